const DIGITS = 16

/** A time as a part of a key, with a fixed number of digits. Keys sort by it. */
export function timePart(ms: number): string {
  return String(Math.min(Math.max(0, Math.ceil(ms)), Number.MAX_SAFE_INTEGER)).padStart(DIGITS, '0')
}
