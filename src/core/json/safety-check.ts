import type { Issue, IssueCode } from '../../errors.ts'
import { isPlain, isStorable } from '../../model/json.ts'
import { pointerTo } from '../../model/json-pointer.ts'
import { IssueList } from '../answers/result.ts'

const MAX_DEPTH = 32
/** Limits the synchronous work on one body to a few milliseconds. */
const MAX_VALUES = 10_000

/** A container in the body. Its pointer is built only for a fault. */
interface Place {
  readonly value: object
  readonly key: string
  readonly parent: Place | undefined
  readonly depth: number
}

interface Fault {
  readonly code: IssueCode
  readonly detail: string
}

/**
 * Checks a parsed body for values that stores, logs and templates cannot handle, such as deep nesting, NUL, unpaired surrogates, a
 * `__proto__` key and inexact numbers. Iterative, so that no body overflows the stack.
 */
export function checkJsonSafety(body: unknown): readonly Issue[] {
  const found = new IssueList()
  if (typeof body !== 'object' || body === null) {
    const fault = scalarFault(body)
    if (fault) found.add({ pointer: '', ...fault })
    return found.issues
  }
  const places: Place[] = [{ value: body, key: '', parent: undefined, depth: 1 }]
  let values = 1
  for (let place = places.pop(); place && !found.isFull; place = places.pop()) {
    const fault = containerFault(place)
    if (fault) {
      found.add({ pointer: pointerOf(place), ...fault })
      continue
    }
    const names = Array.isArray(place.value) ? place.value : Object.keys(place.value)
    values += names.length
    if (values > MAX_VALUES) {
      found.add({ pointer: '', code: 'too_many', detail: `holds more than ${MAX_VALUES} values` })
      break
    }
    if (Array.isArray(place.value)) visitItems(place, place.value, places, found)
    else visitMembers(place, names, places, found)
  }
  return found.issues
}

function visitItems(place: Place, items: readonly unknown[], places: Place[], found: IssueList): void {
  for (let index = 0; index < items.length && !found.isFull; index++) {
    visit(place, String(index), items[index], places, found)
  }
}

function visitMembers(place: Place, keys: readonly string[], places: Place[], found: IssueList): void {
  const members = place.value as Readonly<Record<string, unknown>>
  for (const key of keys) {
    if (found.isFull) return
    const fault = stringFault(key)
    if (fault) found.add({ pointer: pointerOf(place), code: fault.code, detail: `${fault.detail} in a key` })
    else if (key === '__proto__') found.add({ pointer: pointerTo(pointerOf(place), key), ...FORBIDDEN_KEY })
    else visit(place, key, members[key], places, found)
  }
}

function visit(parent: Place, key: string, value: unknown, places: Place[], found: IssueList): void {
  if (typeof value === 'object' && value !== null) {
    places.push({ value, key, parent, depth: parent.depth + 1 })
    return
  }
  const fault = scalarFault(value)
  if (fault) found.add({ pointer: pointerTo(pointerOf(parent), key), ...fault })
}

const FORBIDDEN_KEY: Fault = { code: 'forbidden_key', detail: 'a key is not allowed here' }
const NOT_JSON: Fault = { code: 'type', detail: 'expected a value that JSON can carry' }

function containerFault({ value, depth }: Place): Fault | undefined {
  if (depth > MAX_DEPTH) return { code: 'too_deep', detail: `nested deeper than ${MAX_DEPTH} levels` }
  return isPlain(value) ? undefined : NOT_JSON
}

function scalarFault(value: unknown): Fault | undefined {
  switch (typeof value) {
    case 'string':
      return stringFault(value)
    case 'number':
      return numberFault(value)
    case 'boolean':
    case 'undefined':
    case 'object':
      return undefined
    default:
      return NOT_JSON
  }
}

function stringFault(text: string): Fault | undefined {
  if (isStorable(text)) return undefined
  if (text.includes('\0')) return { code: 'nul_character', detail: 'holds a NUL character' }
  return { code: 'lone_surrogate', detail: 'holds half of a surrogate pair' }
}

function numberFault(value: number): Fault | undefined {
  if (!Number.isFinite(value)) return { code: 'out_of_range', detail: 'expected a finite number' }
  if (!Number.isInteger(value) || Number.isSafeInteger(value)) return undefined
  return { code: 'out_of_range', detail: 'expected an integer of at most 2^53 - 1' }
}

function pointerOf(place: Place): string {
  const keys: string[] = []
  for (let at: Place = place; at.parent; at = at.parent) keys.push(at.key)
  return keys.reverse().reduce(pointerTo, '')
}
