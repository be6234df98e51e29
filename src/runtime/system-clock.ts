import type { Clock } from '../ports/clock.ts'

/** The machine's time. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  after(ms, run) {
    const timer = setTimeout(run, ms)
    // A number where the runtime is not Node.
    if (typeof timer === 'object') timer.unref()
    return () => clearTimeout(timer)
  },
}
