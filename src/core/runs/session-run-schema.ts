import * as v from 'valibot'
import type { Issue } from '../../errors.ts'
import { canonicalDecimal } from '../../model/decimal.ts'
import type { Warning } from '../../model/dispatch.ts'
import { isStorable, membersOf } from '../../model/json.ts'
import { keysOf } from '../../model/json-pointer.ts'
import { RUN_ID, RUN_ID_EXPECTED, SESSION_ID, SESSION_ID_EXPECTED } from '../../model/principal.ts'
import type { ReadFault } from '../../model/read-fault.ts'
import type { ModelUsage, RunCost, RunTimings } from '../../model/run.ts'
import type { RunPost, SessionRunRequest } from '../../model/run-post.ts'
import { readWholeCount } from '../../usage/counts.ts'
import { type PostedCounts, readPostedCounts } from '../../usage/posted-counts.ts'
import { type ReadUsage, readUsage, UNKNOWN_USAGE } from '../../usage/read-usage.ts'
import { isRefused, type Refused } from '../answers/result.ts'
import { checkJsonSafety } from '../json/safety-check.ts'
import { listOf, objectOf, optional, reading, readQuickly } from '../json/schema-readers.ts'
import { fitSchema, invalid, type Valid } from '../validate.ts'
import { instantsAhead, readInstant } from './merge/instants.ts'
import { CLIENT_STATUSES, statusNamed } from './status-names.ts'

/** A valid body: instants are epoch milliseconds, amounts exact decimals, trace ids lower case. */
export interface CheckedSessionRun extends Pick<SessionRunRequest, 'sessionId'> {
  readonly run: Omit<RunPost, 'counts' | 'usage' | 'usageByModel' | 'cost' | 'timings'> & {
    readonly timings?: RunTimings<number>
    readonly cost?: RunCost
    readonly counts?: PostedCounts
    readonly usageByModel?: readonly (Omit<ModelUsage, 'counts'> & { readonly counts: PostedCounts })[]
    readonly usage?: ReadUsage
  }
}

const MAX_METADATA = 32

/** Lengths of the texts that a redactor may change, in UTF-16 units. */
export const LENGTHS = {
  errorType: { min: 1, max: 100 },
  errorMessage: { min: 0, max: 2000 },
  errorCode: { min: 1, max: 100 },
  tag: { min: 1, max: 64 },
  metadata: { min: 0, max: 512 },
} as const

const sessionId = text(200, SESSION_ID, SESSION_ID_EXPECTED)
const runId = text(200, RUN_ID, RUN_ID_EXPECTED)
const duration = whole(0)
const instant = reading(v.union([v.string(), v.number()]), readInstant) as v.GenericSchema<string | number, number>
const counts = reading(
  v.record(v.string(), v.number()) as v.GenericSchema as v.GenericSchema<Record<string, number>, PostedCounts>,
  readCountsOfPost,
)
const name = text(128)

const cost = objectOf({
  amount: reading(v.union([v.string(), v.number()]), readAmount) as v.GenericSchema<string | number, string>,
  currency: reading(v.pipe(v.string(), v.regex(/^[A-Za-z]{3}$/)), readCurrency),
  source: v.picklist(['provider', 'local', 'client']),
  pricingVersion: optional(text(100)),
})

const modelUsage = objectOf({
  provider: text(64),
  model: text(200),
  serviceTier: optional(text(64)),
  counts,
  cost: optional(cost),
})

const run = objectOf({
  runId,
  status: optional(reading(v.string(), readStatus)),
  provider: optional(text(64)),
  model: optional(text(200)),
  responseModel: optional(text(200)),
  serviceTier: optional(text(64)),
  seq: optional(whole(0)),
  parentRunId: optional(runId),
  resumedFromRunId: optional(runId),
  attempt: optional(whole(1)),
  agent: optional(objectOf({ id: optional(name), name: optional(name), version: optional(name) })),
  timings: optional(
    objectOf({
      queuedAt: optional(instant),
      startedAt: optional(instant),
      firstTokenAt: optional(instant),
      endedAt: optional(instant),
      durationMs: optional(duration),
      activeMs: optional(duration),
      modelMs: optional(duration),
      toolMs: optional(duration),
      timeToFirstTokenMs: optional(duration),
    }),
  ),
  counts: optional(counts),
  countsScope: optional(v.picklist(['self', 'tree'])),
  usage: optional(
    reading(
      v.custom<object>(() => true),
      readProviderUsage,
    ) as v.GenericSchema<object, ReadUsage>,
  ),
  usageByModel: optional(listOf(modelUsage, 16)),
  cost: optional(cost),
  finishReason: optional(text(100)),
  waitingFor: optional(v.picklist(['input', 'approval', 'auth', 'tool'])),
  error: optional(
    objectOf({
      type: text(LENGTHS.errorType.max),
      message: optional(reading(v.string(), readMessage)),
      code: optional(text(LENGTHS.errorCode.max)),
      retryable: optional(v.boolean()),
    }),
  ),
  trace: optional(objectOf({ traceId: hex(32), spanId: hex(16) })),
  userId: optional(text(200)),
  environment: optional(text(64)),
  tags: optional(listOf(text(LENGTHS.tag.max), 20)),
  metadata: optional(
    reading(v.record(v.string(), v.nullable(v.union([v.string(), v.number(), v.boolean()]))), readMetadata),
  ),
} satisfies Record<keyof RunPost, v.GenericSchema>)

/** Body of `POST /api/agents/session/run`. `null` means absent; in metadata it deletes the key. Accepted bodies are safe JSON. */
export const sessionRunSchema: v.GenericSchema<unknown, CheckedSessionRun> = objectOf({ sessionId, run })

/** Validates safety, schema, future instants, and that a run does not name itself as parent. Reports all faults at once. */
export function validateSessionRun(body: unknown, now: number): Valid<CheckedSessionRun> | Refused {
  const quick = readQuickly(sessionRunSchema, body)
  const ahead = instantsAhead(quick ? quick.value : body, now)
  const circular = namesItself(body)
  // A body that the schema reads without a fault is safe too.
  if (quick && ahead.length === 0 && circular.length === 0) return { value: quick.value, warnings: NO_WARNINGS }
  const dangers = checkJsonSafety(body)
  // Stops at a body that is too large: reading it would double the time.
  if (dangers.some(({ code }) => code === 'too_many')) return invalid(dangers)
  const fitting = fitSchema(sessionRunSchema, body)
  if (dangers.length === 0 && ahead.length === 0 && circular.length === 0) return fitting
  const misfits = isRefused(fitting) ? (fitting.errors ?? NONE) : NONE
  return invalid([misfits, ahead, circular].reduce(addIssues, dangers))
}

const NO_WARNINGS: readonly Warning[] = Object.freeze([])
const NONE: readonly Issue[] = []

/** Lists the fields in which a run gives its own id for another run's. */
function namesItself(body: unknown): readonly Issue[] {
  const run = membersOf(membersOf(body)?.run)
  if (run?.runId === undefined || (run.parentRunId !== run.runId && run.resumedFromRunId !== run.runId)) return NONE
  const named = ['parentRunId', 'resumedFromRunId'].filter((field) => run[field] === run.runId)
  const detail = 'expected the id of another run'
  return named.map((field) => ({ pointer: `/run/${field}`, code: 'not_allowed', detail }))
}

/** Adds the issues of places that have none yet. Drops those with a pointer that no answer can contain. */
function addIssues(reported: readonly Issue[], more: readonly Issue[]): readonly Issue[] {
  const isNew = ({ pointer }: Issue): boolean =>
    isStorable(pointer) && !reported.some((issue) => issue.pointer === pointer)
  return [...reported, ...more.filter(isNew)]
}

const HARMFUL = 'expected no NUL and no half of a surrogate pair'

function text(max: number, allowed?: RegExp, expected = ''): v.GenericSchema<string> {
  const detail = `expected 1 to ${max} characters`
  const length = v.pipe(v.string(), v.minLength(1, detail), v.maxLength(max, detail))
  const described = allowed ? v.pipe(length, v.regex(allowed, expected)) : length
  return reading(described, (value, faults) => {
    if (typeof value !== 'string') faults.push({ code: 'type', detail: 'expected a string' })
    else if (value === '' || value.length > max) faults.push({ code: value === '' ? 'too_short' : 'too_long', detail })
    else if (allowed ? !allowed.test(value) : !isStorable(value))
      faults.push({ code: 'format', detail: allowed ? expected : HARMFUL })
    return value as string
  })
}

function hex(digits: number): v.GenericSchema<string> {
  const detail = `expected ${digits} hex digits, not all zero`
  return v.pipe(v.string(), v.regex(new RegExp(`^(?!0+$)[0-9A-Fa-f]{${digits}}$`), detail), v.toLowerCase())
}

function whole(min: number): v.GenericSchema<number> {
  return reading(v.number(), (value, faults) => readWholeCount(value, min, faults))
}

function readStatus(value: unknown, faults: ReadFault[]): string {
  if (typeof value !== 'string') faults.push({ code: 'type', detail: 'expected a string' })
  else if (statusNamed(value) === undefined)
    faults.push({ code: 'not_allowed', detail: `${CLIENT_STATUSES.join(', ')}${WHY_NOT[value] ?? ''}` })
  return value as string
}

const WHY_NOT: Readonly<Record<string, string>> = Object.assign(Object.create(null), {
  interrupted: '; interrupted is ambiguous: waiting, if the run will go on, or cancelled',
  expired: '; only the stale sweep sets expired',
})

function readMessage(value: unknown, faults: ReadFault[]): string {
  const { max } = LENGTHS.errorMessage
  if (typeof value !== 'string') faults.push({ code: 'type', detail: 'expected a string' })
  else if (value.length > max) faults.push({ code: 'too_long', detail: `expected at most ${max} characters` })
  else if (!isStorable(value)) faults.push({ code: 'format', detail: HARMFUL })
  return value as string
}

function readAmount(value: unknown, faults: ReadFault[]): string {
  if (typeof value !== 'string' && typeof value !== 'number') {
    faults.push({ code: 'type', detail: 'expected a decimal string or a number' })
    return '0'
  }
  const amount = canonicalDecimal(value)
  if (typeof value === 'number' && !isExact(value)) faults.push({ code: 'out_of_range', detail: INEXACT })
  else if (amount === undefined) faults.push({ code: 'format', detail: 'expected a decimal of at most 40 digits' })
  else if (amount.startsWith('-')) faults.push({ code: 'out_of_range', detail: 'expected 0 or more' })
  return amount ?? '0'
}

/** Reads a currency code, in upper or lower case. A session keeps a sum per currency, so only existing currencies are accepted. */
function readCurrency(value: unknown, faults: ReadFault[]): string {
  if (typeof value !== 'string') {
    faults.push({ code: 'type', detail: 'expected a string' })
    return ''
  }
  const currency = value.toUpperCase()
  if (!/^[A-Za-z]{3}$/.test(value)) faults.push({ code: 'format', detail: 'expected an ISO 4217 code' })
  else if (!isCurrency(currency))
    faults.push({ code: 'not_allowed', detail: 'the currencies of ISO 4217, such as EUR' })
  return currency
}

let currencies: ReadonlySet<string> | undefined

function isCurrency(code: string): boolean {
  currencies ??= new Set(Intl.supportedValuesOf('currency'))
  return currencies.has(code)
}

function readProviderUsage(value: unknown, faults: ReadFault[]): ReadUsage {
  if (membersOf(value)) return readSafely(value, faults) ?? UNKNOWN_USAGE
  faults.push({ code: 'type', detail: 'expected an object' })
  return UNKNOWN_USAGE
}

function readCountsOfPost(value: unknown, faults: ReadFault[]): PostedCounts {
  return readPostedCounts(value, faults, readSafely)
}

function readSafely(value: unknown, faults: ReadFault[]): ReadUsage | undefined {
  const dangers = checkJsonSafety(value)
  for (const { pointer, detail } of dangers) faults.push({ code: 'format', detail, path: keysOf(pointer) })
  // Reading visits every level, so that deep nesting would overflow the stack.
  return dangers.some(({ code }) => code === 'too_deep') ? undefined : readUsage(value, faults)
}

function readNumber(value: number, key: string, faults: ReadFault[]): number {
  if (!isExact(value)) faults.push({ code: 'out_of_range', detail: INEXACT, path: [key] })
  return value + 0
}

const INEXACT = 'expected a finite number, and of integers at most 2^53 - 1'

function isExact(value: number): boolean {
  return Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value)
}

function readMetadata(value: unknown, faults: ReadFault[]): Record<string, string | number | boolean | null> {
  const members = membersOf(value)
  const read: Record<string, string | number | boolean | null> = {}
  if (!members) faults.push({ code: 'type', detail: 'expected an object' })
  let keys = 0
  for (const key in members) {
    const entry = members[key]
    if (entry === undefined) continue
    // Stops here: a hostile body may contain very many.
    if (++keys > MAX_METADATA) break
    if (key.length < 1 || key.length > 64)
      faults.push({ code: 'too_long', detail: 'expected a key of 1 to 64 characters', path: [key] })
    else if (key === '__proto__' || !isStorable(key) || (typeof entry === 'string' && !isStorable(entry)))
      faults.push({ code: 'format', detail: HARMFUL, path: [key] })
    if (typeof entry === 'string' && entry.length > LENGTHS.metadata.max)
      faults.push({ code: 'too_long', detail: 'expected at most 512 characters', path: [key] })
    if (typeof entry === 'number') read[key] = readNumber(entry, key, faults)
    else if (entry === null || typeof entry === 'string' || typeof entry === 'boolean') read[key] = entry
    else faults.push({ code: 'type', detail: 'expected a string, a number, a boolean or null', path: [key] })
  }
  if (keys > MAX_METADATA) faults.push({ code: 'too_many', detail: `expected at most ${MAX_METADATA} keys` })
  return read
}
