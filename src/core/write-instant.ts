const MINUTE_MS = 60_000
const DIGITS = Array.from({ length: 100 }, (_, value) => String(value).padStart(2, '0'))

/** The minutes that were written last, each in the place that its last bits give it, and how they begin: `2026-11-21T08:00:`. */
const PLACES = 16
const minutes: number[] = Array.from({ length: PLACES }, () => Number.NaN)
const beginnings: string[] = Array.from({ length: PLACES }, () => '')

/** Writes epoch milliseconds as RFC 3339. As `toISOString`, but a minute that was written lately is not worked out again. */
export function writeInstant(ms: number): string {
  const minute = Math.floor(ms / MINUTE_MS)
  const place = minute & (PLACES - 1)
  if (minutes[place] !== minute) {
    beginnings[place] = new Date(minute * MINUTE_MS).toISOString().slice(0, -7)
    minutes[place] = minute
  }
  const rest = ms - minute * MINUTE_MS
  const second = Math.floor(rest / 1000)
  const millis = rest - second * 1000
  const hundreds = Math.floor(millis / 100)
  return `${beginnings[place]}${DIGITS[second]}.${hundreds}${DIGITS[millis - hundreds * 100]}Z`
}
