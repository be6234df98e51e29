const RFC_3339 =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])[Tt](?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d{1,9})?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

/** The calendar repeats after 400 years. Added because `Date.UTC` maps years below 100 to the 20th century. */
const CYCLE_YEARS = 400
const CYCLE_MS = 146_097 * 86_400_000

/** Parses RFC 3339 to epoch milliseconds; `undefined` if invalid. Faster than `Date.parse`, which accepts the 30th of February. */
export function parseInstant(text: string): number | undefined {
  if (!RFC_3339.test(text)) return undefined
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  if (day > 28 && day > daysIn(year, month)) return undefined
  const seconds = (twoDigits(text, 11) * 60 + twoDigits(text, 14)) * 60 + twoDigits(text, 17)
  const midnight = Date.UTC(year + CYCLE_YEARS, month - 1, day) - CYCLE_MS
  return midnight + seconds * 1000 + millisOf(text) - offsetOf(text)
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

const ENDINGS = /* @__PURE__ */ Array.from({ length: 1_000 }, (_, ms) => `${String(ms).padStart(3, '0')}Z`)

/** Cache of recently written seconds, by their lowest bits, with texts such as `2026-11-21T08:00:05.`. */
const CACHED = 64
const seconds: number[] = /* @__PURE__ */ Array.from({ length: CACHED }, () => Number.NaN)
const beginnings: string[] = /* @__PURE__ */ Array.from({ length: CACHED }, () => '')

/** Writes epoch milliseconds as RFC 3339. Equal to `toISOString`, but faster for recently written seconds. */
export function writeInstant(ms: number): string {
  const second = Math.floor(ms / 1_000)
  const slot = second & (CACHED - 1)
  if (seconds[slot] !== second) {
    beginnings[slot] = new Date(second * 1_000).toISOString().slice(0, -4)
    seconds[slot] = second
  }
  return `${beginnings[slot]}${ENDINGS[Math.floor(ms - second * 1_000)]}`
}
