import type { QuietHoursOptions } from '../../src/policies/index.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const MINUTES_CHECKED = 7 * 24 * 60
/** No change of a clock repeats more minutes. */
const MINUTES_REPEATED = 4 * 60

/**
 * Finds the time to send by reading the wall clock minute by minute. It is quiet from the first minute that the clock shows of one night
 * until the last, even if the clock goes back and shows minutes before or after that night in between.
 */
export function looked(options: QuietHoursOptions, at: number): number {
  const nights = new Map<number, number | undefined>()
  const nightAt = (minute: number): number | undefined => {
    if (!nights.has(minute)) nights.set(minute, nightOf(options, minute * MINUTE_MS))
    return nights.get(minute)
  }

  const isQuiet = (minute: number): boolean => {
    if (nightAt(minute) !== undefined) return true
    const before = new Set<number | undefined>()
    for (let ago = 1; ago <= MINUTES_REPEATED; ago++) before.add(nightAt(minute - ago))
    for (let later = 1; later <= MINUTES_REPEATED; later++) {
      const night = nightAt(minute + later)
      if (night !== undefined && before.has(night)) return true
    }
    return false
  }

  const asked = Math.floor(at / MINUTE_MS)
  if (!isQuiet(asked)) return at
  for (let minute = asked + 1; minute <= asked + MINUTES_CHECKED; minute++)
    if (!isQuiet(minute)) return minute * MINUTE_MS
  throw new Error('It is quiet for a week.')
}

/** The day on which the night began that the wall clock shows; `undefined`: it shows none. */
function nightOf({ from, to, days, timeZone }: QuietHoursOptions, instant: number): number | undefined {
  const { time, weekday, date } = wall(timeZone)(instant)
  const yesterday = weekday === 1 ? 7 : weekday - 1
  const begins = (day: number): boolean => days?.includes(day) ?? true
  const isAfterFrom = time >= from && (from > to || time < to)
  if (isAfterFrom && begins(weekday)) return date
  return from > to && time < to && begins(yesterday) ? date - DAY_MS : undefined
}

interface Shown {
  readonly time: string
  /** 1 for Monday. */
  readonly weekday: number
  /** The date as the same one in UTC. */
  readonly date: number
}

const walls = new Map<string, (instant: number) => Shown>()

function wall(timeZone: string): (instant: number) => Shown {
  const known = walls.get(timeZone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-GB', {
    ...{ timeZone, weekday: 'short', year: 'numeric', month: '2-digit', day: '2-digit' },
    ...{ hour: '2-digit', minute: '2-digit' },
  })
  const shows = (instant: number): Shown => {
    const [weekday = '', date = '', time = ''] = format.format(instant).split(/,? /)
    const [day, month, year] = date.split('/').map(Number)
    const shown = {
      time,
      weekday: WEEKDAYS.indexOf(weekday) + 1,
      date: Date.UTC(year ?? Number.NaN, (month ?? 0) - 1, day),
    }
    if (shown.weekday === 0 || !/^\d\d:\d\d$/.test(time) || Number.isNaN(shown.date))
      throw new Error(`The wall clock shows "${weekday}, ${date}, ${time}".`)
    return shown
  }
  walls.set(timeZone, shows)
  return shows
}
