import { limitLines } from '../../../core/answers/line-limiter.ts'
import type { Clock } from '../../../ports/clock.ts'
import type { Logger } from '../../../ports/logger.ts'

const EVERY_MS = 60_000

/** Logs `feedback.refused` at most once a minute for each source. */
export function refusalLog(logger: Logger, clock: Pick<Clock, 'now'>): (source: string) => void {
  const lines = limitLines(EVERY_MS)
  return (source) => {
    const due = lines.admit(source, clock.now())
    if (due) logger.log('warn', 'feedback.refused', { source, ...due })
  }
}
