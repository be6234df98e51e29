import type { QuietHoursOptions } from '../../src/policies/index.ts'

const MINUTE_MS = 60_000
const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const MINUTES_CHECKED = 7 * 24 * 60

/** Finds the time to send by reading the wall clock minute by minute. */
export function looked({ from, to, days, timeZone }: QuietHoursOptions, at: number): number {
  const shows = wall(timeZone)
  const begins = (weekday: number): boolean => days?.includes(weekday) ?? true

  const isQuiet = (instant: number): boolean => {
    const { time, today } = shows(instant)
    const yesterday = today === 1 ? 7 : today - 1
    if (from < to) return from <= time && time < to && begins(today)
    return (time >= from && begins(today)) || (time < to && begins(yesterday))
  }

  if (!isQuiet(at)) return at
  let instant = at - (at % MINUTE_MS)
  for (let minutes = 0; minutes < MINUTES_CHECKED; minutes++) {
    instant += MINUTE_MS
    if (!isQuiet(instant)) return instant
  }
  throw new Error('It is quiet for a week.')
}

interface Shown {
  readonly time: string
  /** 1 for Monday. */
  readonly today: number
}

const walls = new Map<string, (instant: number) => Shown>()

function wall(timeZone: string): (instant: number) => Shown {
  const known = walls.get(timeZone)
  if (known) return known
  const format = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'short', hour: '2-digit', minute: '2-digit' })
  const shows = (instant: number): Shown => {
    const [weekday = '', time = ''] = format.format(instant).split(/,? /)
    const today = WEEKDAYS.indexOf(weekday) + 1
    if (today === 0 || !/^\d\d:\d\d$/.test(time)) throw new Error(`The wall clock shows "${weekday}, ${time}".`)
    return { time, today }
  }
  walls.set(timeZone, shows)
  return shows
}
