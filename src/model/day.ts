const DAY_MS = 86_400_000

/** The day of an instant in epoch milliseconds: days since 1970, UTC. */
export function dayOf(at: number): number {
  return Math.floor(at / DAY_MS)
}
