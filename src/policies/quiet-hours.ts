import { arrayOf, matching, names, oneOf } from '../options/checks.ts'
import { type Check, type Checks, readOptions, required } from '../options/read-options.ts'
import type { DeliveryPolicy } from '../ports/delivery-policy.ts'

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

const MINUTE_MS = 60_000
const DAY = 24 * 60

/**
 * Lets messages wait while it is night, or whenever else nobody is to be disturbed: what would go out between `from` and `to`,
 * by the wall clock of the recipient's time zone, is deferred to `to`. Critical events pass.
 *
 * It is deferred to the start of the first minute that is not quiet, whatever happens to the clock until then. An end that is
 * left out as clocks go forward is the first instant after the gap; of one that comes twice as they go back, it is the one that
 * comes next.
 *
 * @throws SallyportError `option_invalid`, with all that is wrong with the options.
 */
export function quietHours(options: QuietHoursOptions): DeliveryPolicy {
  const { from, to, clock: otherwise, days, channels } = checkQuietHours(options)
  const length = modulo(to - from, DAY)
  const clockIn = wallClocks(otherwise)

  /** How many minutes are quiet from what a wall clock shows on, if it runs on steadily. */
  function quietMinutes(shown: number): number {
    const since = modulo(shown - from, DAY)
    const dayBegun = (shown - from - since) / DAY
    return since < length && days.has(isoWeekday(dayBegun)) ? length - since : 0
  }

  return {
    names: { channels: [...(channels ?? [])] },
    decide({ critical, channel, recipient, at }) {
      if (critical || channels?.has(channel) === false) return { verdict: 'send' }
      const clock = clockIn(recipient.timeZone)
      const asked = Math.floor(at / MINUTE_MS)
      let minute = asked
      let left = quietMinutes(clock(minute))
      while (left > 0) {
        minute = firstChange(clock, minute, minute + left) ?? minute + left
        left = quietMinutes(clock(minute))
      }
      return minute > asked ? { verdict: 'defer', until: minute * MINUTE_MS } : { verdict: 'send' }
    },
  }
}

/**
 * The first minute after `start`, up to `end`, from which a wall clock is put forward or back, if it is. For less than a few
 * days: no clock was ever put there and back in so short a time.
 */
function firstChange(clock: WallClock, start: number, end: number): number | undefined {
  const isChanged = (minute: number) => clock(minute) - clock(start) !== minute - start
  if (!isChanged(end)) return undefined
  let steady = start
  let changed = end
  while (changed - steady > 1) {
    const middle = Math.floor((steady + changed) / 2)
    if (isChanged(middle)) changed = middle
    else steady = middle
  }
  return changed
}

/** The ISO weekday of a day that is counted from 1970-01-01, a Thursday. */
function isoWeekday(day: number): number {
  return modulo(day + 3, 7) + 1
}

function modulo(dividend: number, divisor: number): number {
  return ((dividend % divisor) + divisor) % divisor
}

/** The options of `quietHours` that were checked, with their defaults. */
interface CheckedQuietHours {
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
function checkQuietHours(options: QuietHoursOptions): CheckedQuietHours {
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

/** A place's wall clock: from minutes of the epoch to the minutes that its calendar and clock show, counted alike. */
type WallClock = (minute: number) => number

/** Gives wall clocks by the name of an IANA time zone. */
type WallClocks = (timeZone: string | undefined) => WallClock

/** The wall clock of an IANA time zone; `undefined` when there is none of that name. */
function wallClock(timeZone: string): WallClock | undefined {
  const format = formatIn(timeZone)
  if (format === undefined) return undefined
  return (minute) => {
    const parts = format.formatToParts(minute * MINUTE_MS).map(({ type, value }) => [type, Number(value)] as const)
    const shown = Object.fromEntries(parts)
    return Date.UTC(shown.year ?? 0, (shown.month ?? 1) - 1, shown.day, shown.hour, shown.minute) / MINUTE_MS
  }
}

/** Most zones that are kept at once: each takes some 50 KB, and names may come from what users wrote. */
const MAX_KEPT = 200
/** The longest name that a zone has is half as long. */
const MAX_NAME = 64

/**
 * Keeps the wall clocks that were asked for, because making one takes as long as dozens of its answers.
 *
 * @param otherwise For no name, and for one that no zone has.
 */
function wallClocks(otherwise: WallClock): WallClocks {
  const kept = new Map<string, WallClock>()
  return (timeZone) => {
    if (typeof timeZone !== 'string' || timeZone.length > MAX_NAME) return otherwise
    const known = kept.get(timeZone)
    if (known !== undefined) return known
    const [oldest] = kept.keys()
    if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest)
    const clock = wallClock(timeZone) ?? otherwise
    kept.set(timeZone, clock)
    return clock
  }
}

function formatIn(timeZone: string): Intl.DateTimeFormat | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
    })
  } catch {
    return undefined
  }
}
