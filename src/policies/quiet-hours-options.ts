import { arrayOf, matching, names, oneOf } from '../options/checks.ts'
import { type Check, type Checks, readOptions, required } from '../options/read-options.ts'
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

const time: Check = matching(
  (value) => minuteOfDay(value) !== undefined,
  'must be a time of day from "00:00" to "23:59"',
)

const CHECKS: Checks<QuietHoursOptions> = {
  from: required(time),
  to: required((value, given) => time(value, given) ?? (value === given.from ? 'must differ from from' : undefined)),
  timeZone: required(
    matching(
      (value) => typeof value === 'string' && wallClock(value) !== undefined,
      'must be an IANA time zone that this runtime knows',
    ),
  ),
  channels: names,
  days: arrayOf(oneOf(EVERY_DAY), 'must be a list of at least one day, from 1 (Monday) to 7 (Sunday)', 1),
}

/** Checks the options of `quietHours`. Throws all that is wrong with them at once. */
export function checkQuietHours(options: QuietHoursOptions): CheckedQuietHours {
  const { from, to, timeZone, channels, days = EVERY_DAY } = readOptions('quietHours', options, CHECKS)
  return {
    from: minuteOfDay(from) as number,
    to: minuteOfDay(to) as number,
    clock: wallClock(timeZone) as WallClock,
    days: new Set(days),
    ...(channels && { channels: new Set(channels) }),
  }
}

function minuteOfDay(time: unknown): number | undefined {
  const [, hours, minutes] = (typeof time === 'string' && /^([01]\d|2[0-3]):([0-5]\d)$/.exec(time)) || []
  return hours === undefined ? undefined : Number(hours) * 60 + Number(minutes)
}
