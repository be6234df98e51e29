const DAY_MS = 86_400_000

/** UTC day of an instant: days since 1970. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS)
}
