import type { Issue } from '../../../errors.ts'
import { parseInstant } from '../../../model/instants.ts'
import { membersOf } from '../../../model/json.ts'
import type { ReadFault } from '../../../model/read-fault.ts'

/** Smaller numbers are probably epoch seconds: milliseconds passed this in 1973, seconds reach it in the year 5138. */
const LOOKS_LIKE_SECONDS = 1e11
const MAX_AHEAD_MS = 5 * 60_000

export function readInstant(value: unknown, faults: ReadFault[]): number {
  if (typeof value === 'string') return readDateTime(value, faults)
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    faults.push({ code: 'type', detail: 'expected an RFC 3339 date-time or integer epoch milliseconds' })
    return 0
  }
  if (value < LOOKS_LIKE_SECONDS)
    faults.push({ code: 'out_of_range', detail: 'looks like epoch seconds: expected epoch milliseconds' })
  else if (value > Number.MAX_SAFE_INTEGER) faults.push({ code: 'out_of_range', detail: 'expected 2^53 - 1 at most' })
  return value
}

function readDateTime(text: string, faults: ReadFault[]): number {
  const ms = parseInstant(text)
  if (ms === undefined) faults.push({ code: 'format', detail: 'expected an RFC 3339 date-time with its offset' })
  else if (ms < 0) faults.push({ code: 'out_of_range', detail: 'expected an instant after 1970' })
  return ms ?? 0
}

const INSTANTS = ['queuedAt', 'startedAt', 'firstTokenAt', 'endedAt'] as const
const NONE: readonly Issue[] = []

/** Lists instants more than five minutes in the future. Takes any body, so that one answer has these and the schema's faults. */
export function instantsAhead(body: unknown, now: number): readonly Issue[] {
  const timings = membersOf(membersOf(membersOf(body)?.run)?.timings)
  if (timings === undefined) return NONE
  let issues: Issue[] | undefined
  for (const name of INSTANTS) {
    if (!liesAhead(timings[name], now)) continue
    const detail = 'lies more than 5 minutes ahead of the clock here'
    issues ??= []
    issues.push({ pointer: `/run/timings/${name}`, code: 'out_of_range', detail })
  }
  return issues ?? NONE
}

/** An unreadable text counts as 0, in the past. */
function liesAhead(value: unknown, now: number): boolean {
  const instant = typeof value === 'string' ? readDateTime(value, []) : value
  return typeof instant === 'number' && instant > now + MAX_AHEAD_MS
}
