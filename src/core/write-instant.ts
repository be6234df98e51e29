const DAY_MS = 86_400_000

let writtenDay = Number.NaN
let writtenDate = ''

/** Writes epoch milliseconds as RFC 3339. As `toISOString`, but the date of the day last written is not worked out again. */
export function writeInstant(ms: number): string {
  const day = Math.floor(ms / DAY_MS)
  if (day !== writtenDay) {
    writtenDate = new Date(day * DAY_MS).toISOString().slice(0, -13)
    writtenDay = day
  }
  const rest = ms - day * DAY_MS
  const hour = padded(Math.floor(rest / 3_600_000))
  const minute = padded(Math.floor(rest / 60_000) % 60)
  const second = padded(Math.floor(rest / 1000) % 60)
  const millis = rest % 1000
  return `${writtenDate}${hour}:${minute}:${second}.${millis < 100 ? '0' : ''}${padded(millis)}Z`
}

function padded(value: number): string {
  return value < 10 ? `0${value}` : `${value}`
}
