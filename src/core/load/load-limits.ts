import type { Logger } from '../../ports/logger.ts'
import { type Refused, refuse } from '../answers/result.ts'
import { type Semaphore, semaphore } from './semaphore.ts'
import { type UnfinishedBodies, unfinishedBodies } from './unfinished-bodies.ts'

/** How much a host takes at once. */
export interface LoadLimits {
  readonly maxInFlight?: number | undefined
  readonly maxUnfinished?: number | undefined
  readonly maxUnfinishedBytes?: number | undefined
}

/** The limits of each stage of a request. A request leaves one stage before it enters the next. */
export interface Load {
  /** Requests whose callers are being authenticated and counted. */
  readonly callers: Semaphore
  /** Arriving bodies of known callers. */
  readonly bodies: UnfinishedBodies
  /** Complete requests that are being handled. */
  readonly flight: Semaphore
}

const MIB = 1_048_576

/** @param logger Gets `load.shed` at the first refusal of a stage, and again only after half of its limit was free. */
export function loadOf(
  { maxInFlight = 1_000, maxUnfinished = 1_000, maxUnfinishedBytes = 64 * MIB }: LoadLimits,
  logger: Logger,
): Load {
  return {
    callers: semaphore(maxUnfinished, (authenticating) => logger.log('warn', 'load.shed', { authenticating })),
    bodies: unfinishedBodies({ count: maxUnfinished, bytes: maxUnfinishedBytes }, ({ count, bytes }) =>
      logger.log('warn', 'load.shed', { unfinished: count, unfinishedBytes: bytes }),
    ),
    flight: semaphore(maxInFlight, (inFlight) => logger.log('warn', 'load.shed', { inFlight })),
  }
}

/** Refuses a request above a limit of load. */
export function overloaded(): Refused {
  return refuse('overloaded', 'Try again shortly.', { headers: { 'retry-after': '1' } })
}
