import type { HandlerRequest, HandlerResult } from '../core/answers/result.ts'
import { type DispatchDeps, handleDispatch as handleDispatchFully } from '../core/dispatch/handle-dispatch.ts'
import { handleSessionRun as handleSessionRunFully } from '../core/runs/handle-session-run.ts'
import { handleSessionRunBatch as handleSessionRunBatchFully } from '../core/runs/handle-session-run-batch.ts'
import type { SessionRunDeps } from '../core/runs/record-deps.ts'
import type { DispatchAnswer, DispatchPreview } from '../model/dispatch.ts'
import type { SessionRunBatchAnswer } from '../model/run-batch.ts'
import type { RunAnswer } from '../model/run-post.ts'
import type { Clock } from '../ports/clock.ts'
import type { IdGenerator } from '../ports/id-generator.ts'
import type { Logger } from '../ports/logger.ts'
import { consoleLogger } from '../runtime/console-logger.ts'
import { randomIds } from '../runtime/random-ids.ts'
import { systemClock } from '../runtime/system-clock.ts'

/** The ports that have a default everywhere. */
export interface RuntimePorts {
  /** Default: the machine's time. */
  readonly clock?: Clock
  /** Default: ULIDs. */
  readonly ids?: IdGenerator
  /** Default: warnings and errors to the console, as JSON lines. */
  readonly logger?: Logger
}

const systemIds = randomIds(systemClock.now)

/** Adds the default ports. */
export function withDefaults<Given extends RuntimePorts>(given: Given): Given & Required<RuntimePorts> {
  const { clock = systemClock, ids = systemIds, logger = consoleLogger, ...others } = given
  return { clock, ids: guardedIds(ids), logger: guardedLogger(logger), ...others } as Given & Required<RuntimePorts>
}

/** Falls back to the default for request ids: every answer has one, even if the host's generator throws. */
function guardedIds(ids: IdGenerator): IdGenerator {
  return {
    next(prefix) {
      try {
        return ids.next(prefix)
      } catch (cause) {
        if (prefix !== 'req') throw cause
        return systemIds.next(prefix)
      }
    },
  }
}

/** Ignores errors of the logger: they must not undo what is being logged. */
function guardedLogger(logger: Logger): Logger {
  return {
    log(level, event, fields) {
      try {
        logger.log(level, event, fields)
      } catch {
        // Nowhere to report it.
      }
    },
  }
}

type Lenient<Deps> = Omit<Deps, keyof RuntimePorts> & RuntimePorts

/**
 * Accepts an event for a recipient: `POST /api/outbound/dispatch` without HTTP, a pure function over its ports.
 *
 * Answers 202 with an outcome per channel when everything is stored, or a problem with a code. Never throws, and never sends:
 * `sallyport.worker` does.
 */
export function handleDispatchWithDefaults(
  request: HandlerRequest,
  deps: Lenient<DispatchDeps>,
): Promise<HandlerResult<DispatchAnswer | DispatchPreview>> {
  return handleDispatchFully(request, withDefaults(deps))
}

/**
 * Records one post about an agent's run: `POST /api/agents/session/run` without HTTP, a pure function over its ports.
 *
 * Answers 201 when the run is new, 200 when the post was merged or changed nothing, or a problem with a code. Never throws.
 */
export function handleSessionRunWithDefaults(
  request: HandlerRequest,
  deps: Lenient<SessionRunDeps>,
): Promise<HandlerResult<RunAnswer>> {
  return handleSessionRunFully(request, withDefaults(deps))
}

/**
 * Records 1 to 100 posts about agents' runs: `POST /api/agents/session/run/batch` without HTTP, a pure function over its ports.
 *
 * Answers 200 with a result for each post, in order: the answer of {@link handleSessionRunWithDefaults}. A refused post does not affect the
 * others. A malformed batch or an unauthenticated caller is answered with a problem with a code. Never throws.
 */
export function handleSessionRunBatchWithDefaults(
  request: HandlerRequest,
  deps: Lenient<SessionRunDeps>,
): Promise<HandlerResult<SessionRunBatchAnswer>> {
  return handleSessionRunBatchFully(request, withDefaults(deps))
}
