/** The time of a database, as it is known here. */
export interface DatabaseClock {
  /**
   * Epoch milliseconds: not ahead of the database, and behind it by less than {@link uncertaintyMs}; unless its clock was set
   * since it was last asked, a minute ago at most.
   */
  now(): number
  /** The database's time is less than so many milliseconds after {@link now}. */
  uncertaintyMs(): number
  /** Whether what is known is too old, or nothing is known, or this machine has slept since. */
  isStale(): boolean
  /**
   * Takes in what the database said the time was.
   *
   * @param askedAt When it was asked, by the clock of this process that only runs forward.
   */
  learn(databaseNow: number, askedAt: number): void
}

/** Asks a database what time it is, until that is known well enough: the first answer may have waited for a connection. */
export async function askClock(known: DatabaseClock, running: () => number, ask: () => Promise<number>): Promise<void> {
  for (let asked = 1; ; asked++) {
    const askedAt = running()
    known.learn(await ask(), askedAt)
    if (known.uncertaintyMs() <= SHARP_MS || asked === MOST_ASKED) return
  }
}

/** Records of two processes are told apart by when they were made: it is to be known no worse than this, if it can be. */
const SHARP_MS = 20
const MOST_ASKED = 3

const FRESH_MS = 60_000
/** Two clocks that were read one after the other may differ by this, and not because one of them stood still. */
const APART_MS = 1_000

/**
 * Follows a database's clock without asking it every time. What it said was so at some moment between question and answer: each
 * answer bounds, on both sides, how far its clock is from the one here, that of the process, which nobody sets.
 *
 * @param running Milliseconds from any beginning, only ever more: `performance.now`. It may stand still while the machine sleeps.
 * @param wall Epoch milliseconds, however wrong. Where it parts from the other, one of the two stood still or was set.
 */
export function databaseClock(running: () => number, wall: () => number): DatabaseClock {
  let least = Number.NEGATIVE_INFINITY
  let greatest = Number.POSITIVE_INFINITY
  let learnedAt = Number.NEGATIVE_INFINITY
  let apart = 0

  function hasSlept(): boolean {
    return Math.abs(wall() - running() - apart) > APART_MS
  }

  return {
    now: () => Math.floor(least + running()),
    // One more, for what `now` leaves out of a millisecond.
    uncertaintyMs: () => Math.ceil(greatest - least) + 1,
    isStale: () => running() - learnedAt > FRESH_MS || hasSlept(),
    learn(databaseNow, askedAt) {
      const answeredAt = running()
      // It answers in whole milliseconds.
      const [lower, upper] = [databaseNow - answeredAt, databaseNow + 1 - askedAt]
      // Its clock was set, or another took its place, or this one stood still: what was learned before says nothing.
      const isNew = hasSlept() || lower > greatest || upper < least
      least = isNew ? lower : Math.max(least, lower)
      greatest = isNew ? upper : Math.min(greatest, upper)
      learnedAt = answeredAt
      apart = wall() - answeredAt
    },
  }
}
