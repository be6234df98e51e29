import type { Clock } from '../../../ports/clock.ts'

/** The database did not answer in time. */
export class TimedOut extends Error {
  readonly code = 'database_timeout'
}

/** Rejects when it takes too long: it may be done all the same, and what comes of it later is nobody's any more. */
export async function within<T>(work: Promise<T>, ms: number): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimedOut(`The database did not answer within ${ms} ms.`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The machine's timers. Whoever waits for one keeps the process alive. */
export const after: Clock['after'] = (ms, run) => {
  const timer = setTimeout(run, ms)
  return () => clearTimeout(timer)
}
