const ENDINGS = /* @__PURE__ */ Array.from({ length: 1_000 }, (_, ms) => `${String(ms).padStart(3, '0')}Z`)

/** Seconds that were written last, each at the place of its last bits, and how they begin: `2026-11-21T08:00:05.`. */
const PLACES = 64
const seconds: number[] = /* @__PURE__ */ Array.from({ length: PLACES }, () => Number.NaN)
const beginnings: string[] = /* @__PURE__ */ Array.from({ length: PLACES }, () => '')

/** Writes epoch milliseconds as RFC 3339, as `toISOString` does. A second that was written lately is not worked out again. */
export function writeInstant(ms: number): string {
  const second = Math.floor(ms / 1_000)
  const place = second & (PLACES - 1)
  if (seconds[place] !== second) {
    beginnings[place] = new Date(second * 1_000).toISOString().slice(0, -4)
    seconds[place] = second
  }
  return `${beginnings[place]}${ENDINGS[Math.floor(ms - second * 1_000)]}`
}
