import { describeThrown, detailsOf } from '../model/thrown.ts'
import type { Clock } from '../ports/clock.ts'
import type { LogFields, Logger } from '../ports/logger.ts'

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

/** Redis has its codes in front of its messages, which may quote where one connects to, and as whom. */
function describe(cause: unknown): Pick<LogFields, 'cause' | 'causeCode' | 'stack'> {
  const reported = describeThrown(cause)
  const code = reported.causeCode ?? (cause instanceof Error ? /^[A-Z]{2,64}(?= )/.exec(cause.message)?.[0] : undefined)
  return { ...reported, ...(code !== undefined && { causeCode: code }), ...detailsOf(cause, 'none') }
}
