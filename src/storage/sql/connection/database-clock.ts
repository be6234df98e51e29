export interface DatabaseClock {
  /** Epoch milliseconds. Never ahead of the database, behind by less than {@link uncertaintyMs}, unless the database's clock was set. */
  now(): number
  /** Upper bound of the delay of {@link now} in milliseconds. */
  uncertaintyMs(): number
  /** Whether the last answer is missing or too old, or this machine has slept since. */
  isStale(): boolean
  /** @param askedAt Monotonic time of this process when it asked. */
  learn(databaseNow: number, askedAt: number): void
}

/** Asks until the uncertainty is small: the first answer may have waited for a connection. */
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
/** Larger differences of the two clocks mean that one stopped or was set. */
const APART_MS = 1_000

/**
 * Follows a database's clock without a query per read. The database read its clock between question and answer, so each answer gives a
 * lower and an upper bound of its offset from the monotonic clock.
 * @param running A monotonic clock in milliseconds: `performance.now`. It may stop while the machine sleeps.
 * @param wall Epoch milliseconds, possibly wrong. A changed offset from `running` means that one of the two stopped or was set.
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
    // Plus 1, because `now` rounds down.
    uncertaintyMs: () => Math.ceil(greatest - least) + 1,
    isStale: () => running() - learnedAt > FRESH_MS || hasSlept(),
    learn(databaseNow, askedAt) {
      const answeredAt = running()
      // The answer is in whole milliseconds.
      const [lower, upper] = [databaseNow - answeredAt, databaseNow + 1 - askedAt]
      // The database's clock was set or replaced, or this machine slept: earlier bounds are invalid.
      const isNew = hasSlept() || lower > greatest || upper < least
      least = isNew ? lower : Math.max(least, lower)
      greatest = isNew ? upper : Math.min(greatest, upper)
      learnedAt = answeredAt
      apart = wall() - answeredAt
    },
  }
}
