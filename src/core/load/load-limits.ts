import type { Logger } from '../../ports/logger.ts'
import { type Refused, refuse } from '../answers/result.ts'
import { type FairShares, fairShares } from './fair-shares.ts'
import { type UnfinishedBodies, unfinishedBodies } from './unfinished-bodies.ts'

export interface LoadLimits {
  readonly maxInFlight?: number | undefined
  readonly maxUnfinished?: number | undefined
  readonly maxUnfinishedBytes?: number | undefined
}

/** Limits of each stage of a request. A request leaves one stage before it enters the next. */
export interface Load {
  /** Requests that are authenticated and rate limited, shared by the bearer token as sent: nobody knows its tenant yet. */
  readonly callers: FairShares
  /** Incomplete bodies of authenticated callers. */
  readonly bodies: UnfinishedBodies
  /** Complete requests that are being handled. */
  readonly flight: FairShares
}

const MIB = 1_048_576

/** @param logger Gets `load.shed` at the first refusal of a stage, and again only after half of its limit was free. */
export function loadOf(
  { maxInFlight = 1_000, maxUnfinished = 1_000, maxUnfinishedBytes = 64 * MIB }: LoadLimits,
  logger: Logger,
): Load {
  return {
    callers: fairShares(maxUnfinished, (authenticating) => logger.log('warn', 'load.shed', { authenticating })),
    bodies: unfinishedBodies({ count: maxUnfinished, bytes: maxUnfinishedBytes }, ({ count, bytes }) =>
      logger.log('warn', 'load.shed', { unfinished: count, unfinishedBytes: bytes }),
    ),
    flight: fairShares(maxInFlight, (inFlight) => logger.log('warn', 'load.shed', { inFlight })),
  }
}

export function overloaded(): Refused {
  return refuse('overloaded', 'Try again shortly.', { headers: { 'retry-after': '1' } })
}
