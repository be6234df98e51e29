import type { Logger } from '../../ports/logger.ts'
import { type Refused, refuse } from '../answers/result.ts'
import { type Semaphore, semaphore } from './places.ts'
import { type UnfinishedBodies, unfinishedBodies } from './unfinished-bodies.ts'

/** How much a host takes at once. */
export interface LoadLimits {
  readonly maxInFlight?: number | undefined
  readonly maxUnfinished?: number | undefined
  readonly maxUnfinishedBytes?: number | undefined
}

/** What requests take in turn, each released before the next is taken. */
export interface Load {
  /** Requests whose callers are being authenticated and counted. */
  readonly callers: Semaphore
  /** Bodies that are arriving, of callers that are known. */
  readonly bodies: UnfinishedBodies
  /** Complete requests that are being handled. */
  readonly flight: Semaphore
}

const MIB = 1_048_576

/** @param logger Gets `load.shed` when requests begin to be refused, and again only after half of what is bounded was free. */
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

/** The refusal of a request that there is no room for. */
export function overloaded(): Refused {
  return refuse('overloaded', 'Try again shortly.', { headers: { 'retry-after': '1' } })
}
