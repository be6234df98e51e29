import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'

const ONCE_IN_MS = 60_000

/** Logs faults of a queue as `queue.unavailable`, one a minute at most: while a server is down there are many. Never throws. */
export function faultLog(queue: string, logger: Logger, clock: Pick<Clock, 'now'>): (cause: unknown) => void {
  let quietUntil = Number.NEGATIVE_INFINITY
  return (cause) => {
    const now = clock.now()
    if (now < quietUntil) return
    quietUntil = now + ONCE_IN_MS
    try {
      logger.log('warn', 'queue.unavailable', { queue, ...describe(cause) })
    } catch {
      // There is nowhere left to say so.
    }
  }
}

/** Name and code alone: a library's message may quote where it connects to, and as whom. Redis has its codes in front of that. */
function describe(cause: unknown): { cause: string; causeCode?: string } {
  if (!(cause instanceof Error)) return { cause: `a thrown ${typeof cause}` }
  const told: unknown = Reflect.get(cause, 'code')
  const code = typeof told === 'string' ? told : /^[A-Z]{2,}(?= )/.exec(cause.message)?.[0]
  return { cause: cause.name, ...(code !== undefined && { causeCode: code.slice(0, 64) }) }
}
