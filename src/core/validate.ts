import * as v from 'valibot'
import type { Issue, IssueCode } from '../errors.ts'
import type { Warning } from '../model/dispatch.ts'
import { likelyField } from './answers/likely-field.ts'
import { type Refused, refuse } from './answers/result.ts'
import { pointerTo } from './json/json-pointer.ts'
import { checkJsonSafety } from './json/safety-check.ts'
import { readQuickly } from './json/schema-readers.ts'

/** A body that is what its schema says, and what it held beyond that. */
export interface Valid<T> {
  readonly value: T
  readonly warnings: readonly Warning[]
  /** Those of the unknown fields that are probably known ones under another name. Default: none. */
  readonly misnamed?: readonly Issue[]
}

/** Checks a parsed body: first that it is harmless, then that it fits. All the faults are told at once. */
export function validate<T>(schema: v.GenericSchema<unknown, T>, body: unknown): Valid<T> | Refused {
  const dangers = checkJsonSafety(body)
  return dangers.length > 0 ? invalid(dangers) : fitSchema(schema, body)
}

/** Checks that a body is what its schema says. Whether it is harmless as well, {@link guardJson} tells. */
export function fitSchema<T>(schema: v.GenericSchema<unknown, T>, body: unknown): Valid<T> | Refused {
  const quick = readQuickly(schema, body)
  if (quick) return { value: quick.value, warnings: [] }
  const { lists, unknown, misnamed } = compareShape(schema, body)
  const result = v.safeParse(schema, body)
  if (result.success && lists.length === 0) return { value: result.output, warnings: unknown, misnamed }
  const issues = (result.issues ?? []).map(describeIssue)
  const isInList = ({ pointer }: Issue): boolean => lists.some((list) => pointer.startsWith(`${list.pointer}/`))
  return invalid([...issues.filter((issue) => !isInList(issue)), ...lists, ...misnamed])
}

/** The refusal that lists faults of a body. */
export function invalid(errors: readonly Issue[]): Refused {
  const places = errors.length === 1 ? 'One place' : `${errors.length} places`
  return refuse('validation_failed', `${places} in the body cannot be accepted.`, { errors })
}

/** Codes of valibot's checks; everything else that is checked is `invalid`. */
const CHECK_CODES: Readonly<Record<string, IssueCode>> = {
  regex: 'format',
  min_length: 'too_short',
  max_length: 'too_long',
  max_entries: 'too_many',
  integer: 'type',
  safe_integer: 'out_of_range',
  min_value: 'out_of_range',
  max_value: 'out_of_range',
}

/** Our own words for a valibot issue: its own may quote the value. Checks carry a message of ours. */
function describeIssue(issue: v.BaseIssue<unknown>): Issue {
  const pointer = issue.path?.reduce((at, { key }) => pointerTo(at, String(key)), '') ?? ''
  if (issue.kind === 'validation') return { pointer, code: CHECK_CODES[issue.type] ?? 'invalid', detail: issue.message }
  if (issue.received === 'undefined') return { pointer, code: 'required', detail: 'is required' }
  if (issue.type === 'custom') return { pointer, code: 'type', detail: issue.message }
  if (issue.type === 'picklist') return { pointer, code: 'not_allowed', detail: `expected one of ${issue.expected}` }
  return { pointer, code: 'type', detail: `expected ${(issue.expected ?? 'another type').toLowerCase()}` }
}

/** As many as an answer tells. */
const MAX_TOLD = 50

/** The parts of a valibot schema that say which fields it knows. */
interface Inspectable {
  readonly type?: string
  readonly entries?: Readonly<Record<string, Inspectable>>
  readonly wrapped?: Inspectable
  readonly item?: Inspectable
}

/** What valibot passes over: lists where objects belong, and fields that the schema does not know. */
interface Shape {
  readonly lists: Issue[]
  readonly unknown: Warning[]
  readonly misnamed: Issue[]
}

function compareShape(schema: Inspectable, body: unknown): Shape {
  const shape: Shape = { lists: [], unknown: [], misnamed: [] }
  compare(schema, body, [], shape)
  return shape
}

/** `path` leads to `value`; it is pushed to and popped from, and a pointer made of it only where there is something to tell. */
function compare(schema: Inspectable, value: unknown, path: string[], shape: Shape): void {
  if (typeof value !== 'object' || value === null) return
  const { wrapped, item, entries } = schema
  if (wrapped) compare(wrapped, value, path, shape)
  else if (item && Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) step(item, value[index], String(index), path, shape)
  } else if (schema.type === 'object' && entries) {
    if (!Array.isArray(value)) compareMembers(entries, value as Readonly<Record<string, unknown>>, path, shape)
    else if (shape.lists.length < MAX_TOLD)
      shape.lists.push({ pointer: pointerOf(path), code: 'type', detail: 'expected object' })
  }
}

function compareMembers(
  entries: NonNullable<Inspectable['entries']>,
  members: Readonly<Record<string, unknown>>,
  path: string[],
  shape: Shape,
): void {
  for (const key of Object.keys(members)) {
    const member = members[key]
    const found = entries[key]
    // A key such as `constructor` finds a function that every object inherits.
    const known = typeof found === 'object' ? found : undefined
    if (known) step(known, member, key, path, shape)
    else if (member !== undefined && shape.unknown.length < MAX_TOLD) {
      const pointer = pointerTo(pointerOf(path), key)
      const meant = likelyField(key, entries, members)
      const hint = meant === undefined ? '' : `; did you mean ${meant}?`
      shape.unknown.push({ code: 'unknown_field', pointer, detail: `is not known here and was dropped${hint}` })
      if (hint) shape.misnamed.push({ pointer, code: 'not_allowed', detail: `is not known here${hint}` })
    }
  }
}

function step(schema: Inspectable, value: unknown, key: string, path: string[], shape: Shape): void {
  if (typeof value !== 'object' || value === null) return
  path.push(key)
  compare(schema, value, path, shape)
  path.pop()
}

function pointerOf(path: readonly string[]): string {
  return path.reduce(pointerTo, '')
}
