import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'

const EVERY_MS = 60_000

/** Logs `feedback.refused` at most once a minute for each source: strangers must not fill the log. */
export function refusalLog(logger: Logger, clock: Pick<Clock, 'now'>): (source: string) => void {
  const loggedAt = new Map<string, number>()
  return (source) => {
    const now = clock.now()
    if (now - (loggedAt.get(source) ?? Number.NEGATIVE_INFINITY) < EVERY_MS) return
    loggedAt.set(source, now)
    logger.log('warn', 'feedback.refused', { source })
  }
}
