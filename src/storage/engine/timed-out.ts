import type { Clock } from '../../ports/clock.ts'

/** A call did not begin, or did not end, within its limit. */
export class TimedOut extends Error {
  readonly code = 'database_timeout'
}

/** System timers. They keep the process alive. */
export const systemTimers: Pick<Clock, 'after'> = {
  after(ms, run) {
    const timer = setTimeout(run, ms)
    return () => clearTimeout(timer)
  },
}
