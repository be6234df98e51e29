import type { ConfigProblem } from '../errors.ts'
import { badOptions, namesProblems } from './option-problems.ts'
import { type WallClock, wallClock } from './wall-clock.ts'

/** When `quietHours` are, and for what. */
export interface QuietHoursOptions {
  /** When they begin, by the recipient's wall clock: `00:00` to `23:59`. */
  readonly from: string
  /** When they end: the first minute that is not quiet, likewise. Earlier than `from`: on the day after. */
  readonly to: string
  /** An IANA zone, such as `Europe/Vienna`, for recipients whose `timeZone` is absent or does not exist. */
  readonly timeZone: string
  /** The channels whose messages wait. Default: all. */
  readonly channels?: readonly string[]
  /** The days on which they begin, 1 (Monday) to 7 (Sunday), by the recipient's calendar. Default: all. */
  readonly days?: readonly number[]
}

/** The options of `quietHours` that were checked, with their defaults. */
export interface CheckedQuietHours {
  /** Minutes of the day. */
  readonly from: number
  /** Minutes of the day. */
  readonly to: number
  /** That of `timeZone`. */
  readonly clock: WallClock
  readonly days: ReadonlySet<number>
  /** Absent: all. */
  readonly channels?: ReadonlySet<string>
}

const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7]
const TIME_RULE = 'must be a time of day from "00:00" to "23:59"'

/** Checks the options of `quietHours`. Throws all that is wrong with them at once. */
export function checkQuietHours(options: QuietHoursOptions): CheckedQuietHours {
  const { timeZone, channels, days = EVERY_DAY } = options
  const [from, to] = [minuteOfDay(options.from), minuteOfDay(options.to)]
  const clock = typeof timeZone === 'string' ? wallClock(timeZone) : undefined
  const problems: ConfigProblem[] = namesProblems('channels', channels)
  const refuse = (field: string, detail: string) => problems.push({ field, detail })
  if (from === undefined) refuse('from', TIME_RULE)
  if (to === undefined) refuse('to', TIME_RULE)
  if (from !== undefined && from === to) refuse('to', 'must differ from from')
  if (clock === undefined) refuse('timeZone', 'must be an IANA time zone that this runtime knows')
  if (!Array.isArray(days) || days.length === 0 || !days.every((day) => EVERY_DAY.includes(day))) {
    refuse('days', 'must be a list of at least one day, from 1 (Monday) to 7 (Sunday)')
  }
  if (problems.length > 0 || from === undefined || to === undefined || clock === undefined) {
    throw badOptions('quietHours', problems)
  }
  return { from, to, clock, days: new Set(days), ...(channels && { channels: new Set(channels) }) }
}

function minuteOfDay(time: string): number | undefined {
  const [, hours, minutes] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(time) ?? []
  return hours === undefined ? undefined : Number(hours) * 60 + Number(minutes)
}
