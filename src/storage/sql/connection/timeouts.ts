import type { TimeoutOptions } from '../../../model/time-out.ts'
import type { Clock } from '../../../ports/clock.ts'

/** The database did not answer in time. */
export class TimedOut extends Error {
  readonly code = 'database_timeout'
}

/** Limits of one call to the database, for `withTimeout`: a late call rejects with {@link TimedOut}. */
export function callTimeout(ms: number): TimeoutOptions {
  return {
    ms,
    clock: { after },
    fallback: () => {
      throw new TimedOut(`The database did not answer within ${ms} ms.`)
    },
  }
}

/** Timers of the machine, which keep the process alive. */
export const after: Clock['after'] = (ms, run) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}
