import type { Issue } from '../../errors.ts'
import type { Fault } from './reading.ts'

const RFC_3339 =
  /^(\d{4})-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d|60)(?:\.(\d{1,9}))?(?:[Zz]|([+-])([01]\d|2[0-3]):([0-5]\d))$/

/** Epoch milliseconds passed this in 1973; epoch seconds will in the year 5138. */
const LOOKS_LIKE_SECONDS = 1e11
const MAX_AHEAD_MS = 5 * 60_000

/** Reads an instant to epoch milliseconds: RFC 3339 with any offset, or epoch milliseconds as they are. */
export function readInstant(value: unknown, faults: Fault[]): number {
  if (typeof value === 'string') return readDateTime(value, faults)
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    faults.push({ code: 'type', detail: 'expected an RFC 3339 date-time or integer epoch milliseconds' })
    return 0
  }
  if (value < LOOKS_LIKE_SECONDS)
    faults.push({ code: 'out_of_range', detail: 'looks like epoch seconds: expected epoch milliseconds' })
  return value
}

function readDateTime(text: string, faults: Fault[]): number {
  const parts = RFC_3339.exec(text)
  const ms = parts ? epochMs(parts) : undefined
  if (ms === undefined) faults.push({ code: 'format', detail: 'expected an RFC 3339 date-time with its offset' })
  else if (ms < 0) faults.push({ code: 'out_of_range', detail: 'expected an instant after 1970' })
  return ms ?? 0
}

function epochMs(parts: RegExpExecArray): number | undefined {
  const [, year, month, day, hour, minute, second, fraction = '', sign, offsetHour, offsetMinute] = parts
  if (Number(day) > daysIn(Number(year), Number(month))) return undefined
  const millis = fraction.length === 3 ? Number(fraction) : Number(`${fraction}000`.slice(0, 3))
  const local = Date.UTC(
    Number(year),
    Number(month) - 1,
    Number(day),
    Number(hour),
    Number(minute),
    Number(second),
    millis,
  )
  if (Number(year) < 100) return -1
  if (sign === undefined) return local
  const offset = (Number(offsetHour) * 60 + Number(offsetMinute)) * 60_000
  return sign === '+' ? local - offset : local + offset
}

function daysIn(year: number, month: number): number {
  if (month !== 2) return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
  return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
}

const INSTANTS = ['queuedAt', 'startedAt', 'firstTokenAt', 'endedAt'] as const

/**
 * The instants of a body that lie more than five minutes ahead. Takes any body at all, so that a body that is refused for
 * something else has these told along with it; what is no instant is left to the schema.
 */
export function instantsAhead(body: unknown, now: number): readonly Issue[] {
  const timings = member(member(body, 'run'), 'timings')
  const issues: Issue[] = []
  for (const name of INSTANTS) {
    const value = member(timings, name)
    if (value === undefined || value === null) continue
    const faults: Fault[] = []
    const instant = readInstant(value, faults)
    if (faults.length === 0 && instant > now + MAX_AHEAD_MS) {
      const detail = 'lies more than 5 minutes ahead of the clock here'
      issues.push({ pointer: `/run/timings/${name}`, code: 'out_of_range', detail })
    }
  }
  return issues
}

function member(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
}
