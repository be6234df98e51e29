import type { Issue, IssueCode } from '../errors.ts'
import { pointerTo } from './json-pointer.ts'

const MAX_DEPTH = 32
const MAX_ISSUES = 50

/** A place in the body; its pointer is only written out when something is wrong there. */
interface Place {
  readonly value: object
  readonly key: string
  readonly parent: Place | undefined
  readonly depth: number
}

/**
 * Looks through a parsed body for what no store, log or template should meet: depth over 32, NUL, lone surrogates, a
 * `__proto__` key, numbers that JSON cannot carry exactly, and values that JSON does not have. Iterative: no body overflows it.
 */
export function guardJson(body: unknown): readonly Issue[] {
  if (typeof body !== 'object' || body === null) {
    const fault = scalarFault(body)
    return fault ? [{ pointer: '', ...fault }] : []
  }
  const issues: Issue[] = []
  const places: Place[] = [{ value: body, key: '', parent: undefined, depth: 1 }]
  for (let place = places.pop(); place && issues.length < MAX_ISSUES; place = places.pop()) {
    const { value, depth } = place
    if (!isPlain(value)) report(issues, place, 'type', 'expected a value that JSON can carry')
    else if (depth > MAX_DEPTH) report(issues, place, 'too_deep', `nested deeper than ${MAX_DEPTH} levels`)
    else if (Array.isArray(value)) {
      for (let index = 0; index < value.length; index++) visit(String(index), value[index], place, places, issues)
    } else {
      for (const key of Object.keys(value)) {
        if (key === '__proto__') report(issues, place, 'forbidden_key', 'a key is not allowed here', key)
        const fault = scalarFault(key)
        if (fault) issues.push({ pointer: pointerOf(place), ...fault })
        visit(key, (value as Record<string, unknown>)[key], place, places, issues)
      }
    }
  }
  return issues
}

function visit(key: string, value: unknown, parent: Place, places: Place[], issues: Issue[]): void {
  if (typeof value === 'object' && value !== null) {
    places.push({ value, key, parent, depth: parent.depth + 1 })
    return
  }
  const fault = scalarFault(value)
  if (fault) issues.push({ pointer: pointerTo(pointerOf(parent), key), ...fault })
}

function scalarFault(value: unknown): { code: IssueCode; detail: string } | undefined {
  switch (typeof value) {
    case 'string':
      if (value.includes('\0')) return { code: 'nul_character', detail: 'holds a NUL character' }
      return value.isWellFormed() ? undefined : { code: 'lone_surrogate', detail: 'holds half of a surrogate pair' }
    case 'number':
      if (!Number.isFinite(value)) return { code: 'out_of_range', detail: 'expected a finite number' }
      return Number.isInteger(value) && !Number.isSafeInteger(value)
        ? { code: 'out_of_range', detail: 'expected an integer of at most 2^53 - 1' }
        : undefined
    case 'boolean':
    case 'undefined':
    case 'object':
      return undefined
    default:
      return { code: 'type', detail: 'expected a value that JSON can carry' }
  }
}

function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype || Object.getPrototypeOf(prototype) === null
}

function report(issues: Issue[], place: Place, code: IssueCode, detail: string, key?: string): void {
  const pointer = pointerOf(place)
  issues.push({ pointer: key === undefined ? pointer : pointerTo(pointer, key), code, detail })
}

function pointerOf(place: Place): string {
  const keys: string[] = []
  for (let at: Place = place; at.parent; at = at.parent) keys.push(at.key)
  return keys.reverse().reduce(pointerTo, '')
}
