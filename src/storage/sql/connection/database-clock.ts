/** The database's time, as far as this process knows it. */
export interface DatabaseClock {
  /**
   * Epoch milliseconds: never ahead of the database, and behind it by less than {@link uncertaintyMs}; unless the database's clock
   * was set since the last answer, a minute ago at most.
   */
  now(): number
  /** The database's time is less than so many milliseconds after {@link now}. */
  uncertaintyMs(): number
  /** Whether the last answer is too old or missing, or this machine has slept since. */
  isStale(): boolean
  /**
   * Takes in a time that the database answered.
   *
   * @param askedAt When it was asked, by the monotonic clock of this process.
   */
  learn(databaseNow: number, askedAt: number): void
}

/** Asks a database for its time until the uncertainty is small: the first answer may have waited for a connection. */
export async function askClock(known: DatabaseClock, running: () => number, ask: () => Promise<number>): Promise<void> {
  for (let asked = 1; ; asked++) {
    const askedAt = running()
    known.learn(await ask(), askedAt)
    if (known.uncertaintyMs() <= SHARP_MS || asked === MOST_ASKED) return
  }
}

/** Small enough to order records of two processes by time. */
const SHARP_MS = 20
const MOST_ASKED = 3

const FRESH_MS = 60_000
/** Two clocks may differ by this without either having stood still. */
const APART_MS = 1_000

/**
 * Follows a database's clock without asking it each time. The database read its clock at some moment between question and answer,
 * so each answer gives a lower and an upper bound for its distance from the monotonic clock of this process.
 *
 * @param running A monotonic clock in milliseconds: `performance.now`. It may stand still while the machine sleeps.
 * @param wall Epoch milliseconds, however wrong. If its distance from `running` changes, one of the two stood still or was set.
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
    // One more, since `now` rounds down.
    uncertaintyMs: () => Math.ceil(greatest - least) + 1,
    isStale: () => running() - learnedAt > FRESH_MS || hasSlept(),
    learn(databaseNow, askedAt) {
      const answeredAt = running()
      // The answer is in whole milliseconds.
      const [lower, upper] = [databaseNow - answeredAt, databaseNow + 1 - askedAt]
      // The database's clock was set or replaced, or this machine slept: earlier bounds no longer hold.
      const isNew = hasSlept() || lower > greatest || upper < least
      least = isNew ? lower : Math.max(least, lower)
      greatest = isNew ? upper : Math.min(greatest, upper)
      learnedAt = answeredAt
      apart = wall() - answeredAt
    },
  }
}
