import * as v from 'valibot'
import type { Issue, IssueCode } from '../errors.ts'
import type { Warning } from '../model/dispatch.ts'
import { pointerTo } from '../model/json-pointer.ts'
import { nearNames } from '../model/suggestions.ts'
import { isRefused, type Refused, refuse } from './answers/result.ts'
import { checkJsonSafety } from './json/safety-check.ts'
import { readQuickly } from './json/schema-readers.ts'

export interface Valid<T> {
  readonly value: T
  readonly warnings: readonly Warning[]
  /** Unknown fields that are probably known fields under another name. Default: none. */
  readonly misnamed?: readonly Issue[]
}

/** Validates a parsed body: first its safety, then its schema. Reports all issues at once. */
export function validate<T>(schema: v.GenericSchema<unknown, T>, body: unknown): Valid<T> | Refused {
  const dangers = checkJsonSafety(body)
  return dangers.length > 0 ? invalid(dangers) : fitSchema(schema, body)
}

/** As {@link validate}, but refuses unknown members, of which one may be a limit. */
export function validateKnown<T>(schema: v.GenericSchema<unknown, T>, body: unknown): T | Refused {
  const valid = validate(schema, body)
  if (isRefused(valid)) return valid
  const unknown = valid.warnings.map(({ pointer }): Issue => ({ pointer, code: 'not_allowed', detail: UNKNOWN }))
  return unknown.length > 0 ? invalid(unknown) : valid.value
}

const UNKNOWN = 'is not known here'

/** Checks a body against its schema only; {@link checkJsonSafety} checks its safety. */
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

export function invalid(errors: readonly Issue[]): Refused {
  const places = errors.length === 1 ? 'One place' : `${errors.length} places`
  return refuse('validation_failed', `${places} in the body cannot be accepted.`, { errors })
}

/** Issue codes by valibot check. Any other check is `invalid`. */
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

/** Describes a valibot issue. Omits valibot's own messages, which can quote the value. */
function describeIssue(issue: v.BaseIssue<unknown>): Issue {
  const pointer = issue.path?.reduce((at, { key }) => pointerTo(at, String(key)), '') ?? ''
  if (issue.kind === 'validation') return { pointer, code: CHECK_CODES[issue.type] ?? 'invalid', detail: issue.message }
  if (issue.received === 'undefined') return { pointer, code: 'required', detail: 'is required' }
  if (issue.type === 'custom') return { pointer, code: 'type', detail: issue.message }
  if (issue.type === 'picklist') return { pointer, code: 'not_allowed', detail: `expected one of ${issue.expected}` }
  return { pointer, code: 'type', detail: `expected ${(issue.expected ?? 'another type').toLowerCase()}` }
}

/** Faults of one kind that a refusal lists. */
export const MAX_LISTED = 50

interface Inspectable {
  readonly type?: string
  readonly entries?: Readonly<Record<string, Inspectable>>
  readonly wrapped?: Inspectable
  readonly item?: Inspectable
}

/** Findings that valibot does not report: lists in place of objects, and unknown fields. */
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

/** `path` is a stack of the keys to `value`. A pointer is built from it only for a finding. */
function compare(schema: Inspectable, value: unknown, path: string[], shape: Shape): void {
  if (typeof value !== 'object' || value === null) return
  const { wrapped, item, entries } = schema
  if (wrapped) compare(wrapped, value, path, shape)
  else if (item && Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) step(item, value[index], String(index), path, shape)
  } else if (schema.type === 'object' && entries) {
    if (!Array.isArray(value)) compareMembers(entries, value as Readonly<Record<string, unknown>>, path, shape)
    else if (shape.lists.length < MAX_LISTED)
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
    // A key such as `constructor` finds an inherited function.
    const known = typeof found === 'object' ? found : undefined
    if (known) step(known, member, key, path, shape)
    else if (member !== undefined && shape.unknown.length < MAX_LISTED) {
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

/** Names of fields in other products, in lower case without `_` and `-`. */
const SYNONYMS: Readonly<Record<string, string>> = {
  data: 'eventData',
  payload: 'eventData',
  params: 'eventData',
  variables: 'eventData',
  context: 'eventData',
  type: 'eventType',
  event: 'eventType',
  eventname: 'eventType',
  template: 'eventType',
  to: 'recipient',
  user: 'recipient',
  userid: 'recipient',
  recipientid: 'recipient',
  recipients: 'recipient',
  subscriber: 'recipient',
  session: 'sessionId',
  channels: 'channel',
}

/** A longer name is no typing error. */
const MAX_NAME = 64
/** A shorter name is near to any name. */
const MIN_NAME = 4

const MAX_CACHED = 200

/** Cache by the fields of a schema: a client that misnames a field does so in every request. */
const CACHE = /* @__PURE__ */ new WeakMap<object, Map<string, readonly string[]>>()

/**
 * Suggests a known field for an unknown one.
 *
 * @param fields Known fields by name.
 * @param members The sent members: a field that was sent is no suggestion.
 */
function likelyField(given: string, fields: object, members: Readonly<Record<string, unknown>>): string | undefined {
  if (given.length > MAX_NAME) return undefined
  return likelyFields(given, fields).find((name) => members[name] === undefined || members[name] === null)
}

/** Likeliest first. */
function likelyFields(given: string, fields: object): readonly string[] {
  const cached = CACHE.get(fields) ?? new Map<string, readonly string[]>()
  const found = cached.get(given)
  if (found) return found
  if (cached.size >= MAX_CACHED) cached.clear()
  const likely = similarNames(given, Object.keys(fields))
  CACHE.set(fields, cached.set(given, likely))
  return likely
}

function similarNames(given: string, known: readonly string[]): readonly string[] {
  const name = normalised(given)
  const synonym = Object.hasOwn(SYNONYMS, name) ? SYNONYMS[name] : undefined
  const same = known.filter((field) => field === synonym || normalised(field) === name)
  return given.length < MIN_NAME ? same : [...same, ...nearNames(given, known)]
}

function normalised(name: string): string {
  return name.toLowerCase().replaceAll(/[_-]/g, '')
}
