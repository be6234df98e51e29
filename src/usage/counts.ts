import { membersOf } from '../model/json.ts'
import type { ReadFault } from '../model/read-fault.ts'
import type { RunCounts } from '../model/run.ts'

const MAX_COUNT = Number.MAX_SAFE_INTEGER
const MAX_COUNTERS = 32

/** The counts that a provider's usage object can contain. */
export const USAGE_COUNTS = [
  'inputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'cacheWrite1hTokens',
  'audioInputTokens',
  'imageInputTokens',
  'outputTokens',
  'reasoningTokens',
  'audioOutputTokens',
  'imageOutputTokens',
  'totalTokens',
  'billedSearches',
  'billedSeconds',
  'billedCharacters',
] as const

export type UsageCount = (typeof USAGE_COUNTS)[number]

export function hasTokens(counts: RunCounts): boolean {
  return USAGE_COUNTS.some((name) => counts[name] !== undefined)
}

/** The counts that Sallyport defines; all others are custom counters. */
export const KNOWN_COUNTS: ReadonlySet<string> = new Set([
  ...USAGE_COUNTS,
  'modelCalls',
  'toolCalls',
  'toolErrors',
  'steps',
  'retries',
  'messages',
] satisfies (keyof RunCounts)[])
const COUNTER = /^[a-z][A-Za-z0-9_]{0,63}$/

/** Reads counts: the known ones, and up to 32 custom ones. A count of `null` is skipped. */
export function readCounts(value: unknown, faults: ReadFault[]): Record<string, number> {
  const members = membersOf(value)
  const read: Record<string, number> = {}
  if (!members) faults.push({ code: 'type', detail: 'expected an object' })
  let counters = 0
  for (const key in members) {
    const count = members[key]
    // A key with `null` is checked too: the key itself may be harmful.
    if (count === undefined || (count === null && COUNTER.test(key))) continue
    if (!KNOWN_COUNTS.has(key)) {
      // Stops here: a hostile body may contain very many.
      if (++counters > MAX_COUNTERS) break
      if (!COUNTER.test(key))
        faults.push({ code: 'format', detail: 'expected a name of a-z, then A-Z a-z 0-9 _, at most 64', path: [key] })
    }
    if (isWhole(count, 0)) read[key] = count + 0
    else readWholeCount(count, 0, faults, [key])
  }
  if (counters > MAX_COUNTERS)
    faults.push({ code: 'too_many', detail: `expected at most ${MAX_COUNTERS} counters of your own` })
  return read
}

export function readWholeCount(value: unknown, min: number, faults: ReadFault[], path?: readonly string[]): number {
  // Adding 0 converts -0 to 0.
  if (isWhole(value, min)) return value + 0
  const fault: ReadFault = Number.isInteger(value)
    ? { code: 'out_of_range', detail: `expected ${min} to 2^53 - 1` }
    : { code: 'type', detail: 'expected an integer' }
  faults.push(path ? { ...fault, path } : fault)
  return min
}

export function isWhole(value: unknown, min: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= MAX_COUNT
}
