import type { Issue } from '../../../errors.ts'
import { membersOf, type ReadFault } from '../../json/schema-readers.ts'

const RFC_3339 =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** Smaller numbers are taken for epoch seconds: milliseconds passed this in 1973, seconds reach it in the year 5138. */
const LOOKS_LIKE_SECONDS = 1e11
const MAX_AHEAD_MS = 5 * 60_000

/** Reads an instant as epoch milliseconds: RFC 3339 with any offset, or epoch milliseconds. */
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
  const ms = RFC_3339.test(text) ? epochMs(text) : undefined
  if (ms === undefined) faults.push({ code: 'format', detail: 'expected an RFC 3339 date-time with its offset' })
  else if (ms < 0) faults.push({ code: 'out_of_range', detail: 'expected an instant after 1970' })
  return ms ?? 0
}

/** Epoch milliseconds of a text that matches {@link RFC_3339}; `undefined` when the day does not exist. */
function epochMs(text: string): number | undefined {
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  if (day > 28 && day > daysIn(year, month)) return undefined
  if (year < 1970) return -1
  const seconds = (twoDigits(text, 11) * 60 + twoDigits(text, 14)) * 60 + twoDigits(text, 17)
  return Date.UTC(year, month - 1, day) + seconds * 1000 + millisOf(text) - offsetOf(text)
}

function millisOf(text: string): number {
  if (text.charAt(19) !== '.') return 0
  let millis = 0
  for (let at = 20, worth = 100; worth >= 1; at++, worth /= 10) {
    const digit = text.charCodeAt(at) - 48
    if (digit < 0 || digit > 9) break
    millis += digit * worth
  }
  return millis
}

function offsetOf(text: string): number {
  const sign = text.charAt(text.length - 6)
  if (sign !== '+' && sign !== '-') return 0
  const minutes = twoDigits(text, text.length - 5) * 60 + twoDigits(text, text.length - 2)
  return (sign === '+' ? minutes : -minutes) * 60_000
}

function twoDigits(text: string, at: number): number {
  return text.charCodeAt(at) * 10 + text.charCodeAt(at + 1) - 528
}

function daysIn(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}

const INSTANTS = ['queuedAt', 'startedAt', 'firstTokenAt', 'endedAt'] as const
const NONE: readonly Issue[] = []

/**
 * Lists the instants of a body that lie more than five minutes ahead. Takes any body, so that one answer lists these with the
 * schema's faults; the schema reports values that are no instants.
 */
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

/** An unreadable text counts as 0, which lies in the past. */
function liesAhead(value: unknown, now: number): boolean {
  const instant = typeof value === 'string' ? readDateTime(value, []) : value
  return typeof instant === 'number' && instant > now + MAX_AHEAD_MS
}
