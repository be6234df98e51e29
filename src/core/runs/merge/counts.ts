import type { RunCounts } from '../../../model/run.ts'
import { membersOf, type ReadFault } from '../../json/schema-readers.ts'

const MAX_COUNT = Number.MAX_SAFE_INTEGER
const MAX_COUNTERS = 32

/** The counts that a provider's usage object tells. */
export type TokenCount =
  | 'inputTokens'
  | 'cacheReadTokens'
  | 'cacheWriteTokens'
  | 'outputTokens'
  | 'reasoningTokens'
  | 'totalTokens'

export const TOKEN_COUNTS: readonly TokenCount[] = [
  'inputTokens',
  'cacheReadTokens',
  'cacheWriteTokens',
  'outputTokens',
  'reasoningTokens',
  'totalTokens',
]

/** The counts that have a meaning here; all others are counters of callers' own. */
export const KNOWN_COUNTS: ReadonlySet<string> = new Set([
  ...TOKEN_COUNTS,
  'modelCalls',
  'toolCalls',
  'toolErrors',
  'steps',
  'retries',
  'messages',
] satisfies (keyof RunCounts)[])
const COUNTER = /^[a-z][A-Za-z0-9_]{0,63}$/

/** Reads counts: the known ones, and up to 32 of the caller's own. What is `null` is not told. */
export function readCounts(value: unknown, faults: ReadFault[]): Record<string, number> {
  const members = membersOf(value)
  const read: Record<string, number> = {}
  if (!members) faults.push({ code: 'type', detail: 'expected an object' })
  let counters = 0
  for (const key in members) {
    const count = members[key]
    // A key that is harmful is so with nothing behind it, too.
    if (count === undefined || (count === null && COUNTER.test(key))) continue
    if (!KNOWN_COUNTS.has(key)) {
      // Into more than that nobody looks: there may be very many.
      if (++counters > MAX_COUNTERS) break
      if (!COUNTER.test(key))
        faults.push({ code: 'format', detail: 'expected a name of a-z, then A-Z a-z 0-9 _, at most 64', path: [key] })
    }
    if (typeof count === 'number' && Number.isInteger(count) && count >= 0 && count <= MAX_COUNT) read[key] = count + 0
    else readWhole(count, 0, faults, [key])
  }
  if (counters > MAX_COUNTERS)
    faults.push({ code: 'too_many', detail: `expected at most ${MAX_COUNTERS} counters of your own` })
  return read
}

/** Reads an integer from `min` to 2^53 - 1. */
export function readWhole(value: unknown, min: number, faults: ReadFault[], path?: readonly string[]): number {
  if (typeof value === 'number' && Number.isInteger(value)) {
    if (value >= min && value <= MAX_COUNT) return value + 0
    faults.push({ code: 'out_of_range', detail: `expected ${min} to 2^53 - 1`, ...(path && { path }) })
  } else faults.push({ code: 'type', detail: 'expected an integer', ...(path && { path }) })
  return min
}
