import type { Clock } from '../ports/clock.ts'

/** Longest delay of a timer: a longer one fires at once. */
const LONGEST_MS = 2 ** 31 - 1

/** The system time. Its timers keep the process alive only with `keepAlive`. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run, keepAlive) {
    let timer: ReturnType<typeof setTimeout>
    const wait = (leftMs: number): void => {
      timer = leftMs > LONGEST_MS ? setTimeout(wait, LONGEST_MS, leftMs - LONGEST_MS) : setTimeout(run, leftMs)
      // Runtimes other than Node return a number.
      if (typeof timer === 'object' && !keepAlive) timer.unref()
    }
    wait(ms)
    return () => clearTimeout(timer)
  },
}
