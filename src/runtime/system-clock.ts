import type { Clock } from '../ports/clock.ts'

/** Longest delay of a timer: a longer one fires at once. */
const LONGEST_MS = 2 ** 31 - 1

/** The system time. Its timers keep the process alive only with `keepAlive`. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run, keepAlive) {
    if (ms > LONGEST_MS) {
      const rest = (): void => {
        cancel = systemClock.after(ms - LONGEST_MS, run, keepAlive)
      }
      let cancel = systemClock.after(LONGEST_MS, rest, keepAlive)
      return () => cancel()
    }
    const timer = setTimeout(run, ms)
    // Runtimes other than Node return a number.
    if (typeof timer === 'object' && !keepAlive) timer.unref()
    return () => clearTimeout(timer)
  },
}
