/** The time of a database, as it is known here. */
export interface DatabaseClock {
  /**
   * Epoch milliseconds: not ahead of the database, and behind it by less than an answer took to come; unless its clock was set
   * since it was last asked, a minute ago at most.
   */
  now(): number
  /** Whether what is known is too old, or nothing is known. */
  isStale(): boolean
  /**
   * Takes in what the database said the time was.
   *
   * @param askedAt When it was asked, by the clock of this process that only runs forward.
   */
  learn(databaseNow: number, askedAt: number): void
}

const FRESH_MS = 60_000

/**
 * Follows a database's clock without asking it every time. What it said was so at some moment between question and answer: each
 * answer bounds how far its clock is from the one here, that of the process, which nobody sets.
 *
 * @param running Milliseconds from any beginning, only ever more: `performance.now`.
 */
export function databaseClock(running: () => number): DatabaseClock {
  let offset = Number.NEGATIVE_INFINITY
  let learnedAt = Number.NEGATIVE_INFINITY
  return {
    now: () => Math.floor(offset + running()),
    isStale: () => running() - learnedAt > FRESH_MS,
    learn(databaseNow, askedAt) {
      const answeredAt = running()
      const least = databaseNow - answeredAt
      const greatest = databaseNow + 1 - askedAt
      // It was set back, or another took its place: what was learned before says nothing.
      offset = greatest < offset ? least : Math.max(offset, least)
      learnedAt = answeredAt
    },
  }
}
