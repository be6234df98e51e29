import { arrayOf, choice, matching, names } from '../options/checks.ts'
import { timeZone } from '../options/intl-checks.ts'
import { type Check, type Checks, readOptions, required } from '../options/read-options.ts'
import { shownName } from '../options/shown-value.ts'
import type { DeliveryPolicy } from '../ports/delivery-policy.ts'

/** Options of {@link quietHours}. */
export interface QuietHoursOptions {
  /** Start by the recipient's wall clock: `00:00` to `23:59`. */
  readonly from: string
  /** End, exclusive, in the same format. Earlier than `from`: on the next day. */
  readonly to: string
  /** IANA zone, such as `Europe/Vienna`, for recipients without a valid `timeZone`. */
  readonly timeZone: string
  /** Channels whose messages wait. Default: all. */
  readonly channels?: readonly string[]
  /** Days on which quiet hours start, 1 (Monday) to 7 (Sunday), by the recipient's calendar. Default: all. */
  readonly days?: readonly number[]
}

const MINUTE_MS = 60_000
const DAY = 24 * 60

/**
 * Defers messages during quiet hours: a message between `from` and `to`, by the wall clock of the recipient's time zone, waits until
 * `to`. Critical events pass.
 *
 * The wait ends with the first minute that is not quiet, with clock changes included. If clocks skip `to`, that is the first instant
 * after the gap. If clocks go back over `from` or `to`, it is quiet from the first `from` to the last `to`: nobody is woken between.
 * @throws SallyportError `option_invalid`, with all problems of the options.
 */
export function quietHours(options: QuietHoursOptions): DeliveryPolicy {
  const { from, to, clock: otherwise, days, channels } = checkQuietHours(options)
  const length = modulo(to - from, DAY)
  const clockIn = wallClocks(otherwise)

  /** Local end of quiet hours that end after `least` and start until `greatest`; `undefined`: there are none. */
  function quietEnd({ least, greatest }: LocalTime): number | undefined {
    for (let start = least - modulo(least - from, DAY); start <= greatest; start += DAY) {
      const end = start + length
      if (end > least && days.has(isoWeekday((start - from) / DAY))) return end
    }
    return undefined
  }

  return {
    names: { channels: [...(channels ?? [])] },
    decide({ critical, channel, recipient, at }) {
      if (critical || channels?.has(channel) === false) return { verdict: 'send' }
      const clock = clockIn(recipient.timeZone)
      const asked = Math.floor(at / MINUTE_MS)
      let minute = asked
      let local = localTime(clock, minute)
      let end = quietEnd(local)
      while (end !== undefined) {
        minute = Math.min(local.changesAt, local.shown < end ? minute + end - local.shown : Number.POSITIVE_INFINITY)
        local = localTime(clock, minute)
        end = quietEnd(local)
      }
      return minute > asked ? { verdict: 'defer', until: minute * MINUTE_MS, for: 'quiet_hours' } : { verdict: 'send' }
    },
  }
}

/** Minutes of the local clock. The least that is still shown and the greatest that was shown differ only where clocks go back. */
interface LocalTime {
  readonly shown: number
  readonly least: number
  readonly greatest: number
  /** The minute of the next clock change; infinite if there is none within a day. */
  readonly changesAt: number
}

function localTime(clock: WallClock, minute: number): LocalTime {
  const shown = clock(minute)
  const change = firstChange(clock, minute - DAY, minute + DAY)
  if (change !== undefined && change > minute)
    return { shown, least: Math.min(shown, clock(change)), greatest: shown, changesAt: change }
  const greatest = change === undefined ? shown : Math.max(shown, clock(change - 1))
  return { shown, least: shown, greatest, changesAt: Number.POSITIVE_INFINITY }
}

/** By binary search, for spans below a few days: no clock ever changed forward and back in that time. */
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

function isoWeekday(day: number): number {
  return modulo(day + 3, 7) + 1
}

function modulo(dividend: number, divisor: number): number {
  return ((dividend % divisor) + divisor) % divisor
}

interface CheckedQuietHours {
  readonly from: number
  readonly to: number
  readonly clock: WallClock
  readonly days: ReadonlySet<number>
  readonly channels?: ReadonlySet<string>
}

const EVERY_DAY = [1, 2, 3, 4, 5, 6, 7]

const time: Check = matching(
  (value) => minuteOfDay(value) !== undefined,
  'must be a time of day from "00:00" to "23:59"',
  shownName,
)

const CHECKS: Checks<QuietHoursOptions> = {
  from: required(time),
  to: required(
    (value, given) =>
      time(value, given) ?? (value === given.from ? 'is the same as from; must be another time' : undefined),
  ),
  timeZone: required(timeZone),
  channels: names,
  days: arrayOf(choice(EVERY_DAY), 'must be a list of at least one day, from 1 (Monday) to 7 (Sunday)', 1),
}

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

/** Maps minutes since the epoch to local minutes, counted from 1970-01-01 by the local calendar and clock. */
type WallClock = (minute: number) => number

type WallClocks = (timeZone: string | undefined) => WallClock

/** The wall clock of an IANA time zone; `undefined` if the name is unknown. */
function wallClock(timeZone: string): WallClock | undefined {
  const format = formatIn(timeZone)
  if (format === undefined) return undefined
  return (minute) => {
    const parts = format.formatToParts(minute * MINUTE_MS).map(({ type, value }) => [type, Number(value)] as const)
    const shown = Object.fromEntries(parts)
    return Date.UTC(shown.year ?? 0, (shown.month ?? 1) - 1, shown.day, shown.hour, shown.minute) / MINUTE_MS
  }
}

/** Maximum zones in the cache: each takes some 50 KB, and names may come from users. */
const MAX_KEPT = 200
/** Twice the length of the longest zone name. */
const MAX_NAME = 64

/**
 * Caches wall clocks: creating one takes as long as dozens of calls.
 * @param otherwise For a missing or unknown name.
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
