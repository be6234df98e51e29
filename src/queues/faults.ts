import { describeThrown, detailsOf } from '../model/thrown.ts'
import type { Clock } from '../ports/clock.ts'
import type { GivenLogger, LogFields } from '../ports/logger.ts'
import { toLogger } from '../runtime/to-logger.ts'

const ONCE_IN_MS = 60_000

/** Logs errors of a queue as `queue.unavailable`, at most one a minute: an outage causes many. Never throws. */
export function faultLog(queue: string, given: GivenLogger, clock: Pick<Clock, 'now'>): (cause: unknown) => void {
  const logger = toLogger(given)
  let quietUntil = Number.NEGATIVE_INFINITY
  return (cause) => {
    const now = clock.now()
    if (now < quietUntil) return
    quietUntil = now + ONCE_IN_MS
    try {
      logger.log('warn', 'queue.unavailable', { queue, ...describe(cause) })
    } catch {
      // No other place to report it.
    }
  }
}

/** Omits the message, which may quote the server and the user. Redis puts its code before the message. */
function describe(cause: unknown): Pick<LogFields, 'cause' | 'causeCode' | 'stack'> {
  const described = describeThrown(cause)
  const redisCode = cause instanceof Error ? /^[A-Z]{2,64}(?= )/.exec(cause.message)?.[0] : undefined
  const causeCode = described.causeCode ?? redisCode
  return { ...described, ...(causeCode !== undefined && { causeCode }), ...detailsOf(cause, 'none') }
}
