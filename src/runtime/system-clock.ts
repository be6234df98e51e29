import type { Clock } from '../ports/clock.ts'

/** The longest time that a timer takes: with more it rings at once. */
const LONGEST_MS = 2 ** 31 - 1

/** The machine's time. Its timers do not keep the process alive, unless they are to. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run, keepAlive) {
    let timer: ReturnType<typeof setTimeout>
    const wait = (leftMs: number): void => {
      timer = leftMs > LONGEST_MS ? setTimeout(wait, LONGEST_MS, leftMs - LONGEST_MS) : setTimeout(run, leftMs)
      // A number where the runtime is not Node.
      if (typeof timer === 'object' && !keepAlive) timer.unref()
    }
    wait(ms)
    return () => clearTimeout(timer)
  },
}
