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
import type { GivenLogger, Logger } from '../ports/logger.ts'
import { consoleLogger } from '../runtime/console-logger.ts'
import { randomIds } from '../runtime/random-ids.ts'
import { systemClock } from '../runtime/system-clock.ts'
import { toLogger } from '../runtime/to-logger.ts'
import { type TimedPorts, timedPorts } from './timed-ports.ts'

/** Ports with a default on every runtime. */
export interface RuntimePorts {
  /** Default: system time. */
  readonly clock?: Clock
  /** Default: ULIDs. */
  readonly ids?: IdGenerator
  /**
   * A pino logger, `console` (JSON lines of all levels), or an object with `log(level, event, fields)`. Default: warnings and errors to
   * the console, as JSON lines.
   */
  readonly logger?: GivenLogger
}

/** The ports as Sallyport uses them. */
export interface ReadyPorts {
  readonly clock: Clock
  readonly ids: IdGenerator
  readonly logger: Logger
}

const systemIds = randomIds(systemClock.now)
const systemLogger = /* @__PURE__ */ guardedLogger(consoleLogger)

/** Fills in ports with a default, and limits the time of the others. */
export function withDefaults<Given extends RuntimePorts & TimedPorts>(given: Given): Given & ReadyPorts {
  const { clock = systemClock, ids, logger } = given
  // A spread with members after it takes 40 times as long in V8.
  return Object.assign({}, given, timedPorts(given, clock), {
    clock,
    ids: ids ? guardedIds(ids) : systemIds,
    logger: logger ? guardedOnce(logger) : systemLogger,
  })
}

/** Falls back to the default for ids on which no answer depends: the host's generator may throw. */
function guardedIds(ids: IdGenerator): IdGenerator {
  return {
    next(prefix) {
      try {
        return ids.next(prefix)
      } catch (cause) {
        if (prefix === 'dsp' || prefix === 'dlv') throw cause
        return systemIds.next(prefix)
      }
    },
  }
}

/** By the host's logger: what is remembered of a logger lasts over several calls of a handler. */
const GUARDED = /* @__PURE__ */ new WeakMap<GivenLogger, Logger>()

function guardedOnce(given: GivenLogger): Logger {
  // Handlers do not check their ports.
  if (Object(given) !== given) return guardedLogger(given as Logger)
  const guarded = GUARDED.get(given) ?? guardedLogger(toLogger(given))
  GUARDED.set(given, guarded)
  return guarded
}

/** Ignores errors of the logger: they must not undo the logged operation. */
function guardedLogger(logger: Logger): Logger {
  return {
    log(level, event, fields) {
      try {
        logger.log(level, event, fields)
      } catch {
        // There is no other place to report it.
      }
    },
  }
}

type Lenient<Deps> = Omit<Deps, keyof RuntimePorts> & RuntimePorts

/**
 * Accepts an event for a recipient: `POST /api/outbound/dispatch` without HTTP, a pure function over its ports. Answers 202 with an
 * outcome per channel when everything is stored, or a problem with a code. Never throws and never sends: `sallyport.worker` sends.
 * Knows no `tokens.revoke` and lists no uses: use the endpoints of `createSallyport`, or a verifier with `isRevoked`.
 */
export function handleDispatchWithDefaults(
  request: HandlerRequest,
  deps: Lenient<DispatchDeps>,
): Promise<HandlerResult<DispatchAnswer | DispatchPreview>> {
  return handleDispatchFully(request, withDefaults(deps))
}

/**
 * Records one post about an agent's run: `POST /api/agents/session/run` without HTTP, a pure function over its ports. Answers 201
 * when the run is new, 200 when the post was merged or changed nothing, or a problem with a code. Never throws.
 * Knows no `tokens.revoke` and lists no uses: use the endpoints of `createSallyport`, or a verifier with `isRevoked`.
 */
export function handleSessionRunWithDefaults(
  request: HandlerRequest,
  deps: Lenient<SessionRunDeps>,
): Promise<HandlerResult<RunAnswer>> {
  return handleSessionRunFully(request, withDefaults(deps))
}

/**
 * Records 1 to 100 posts about agents' runs: `POST /api/agents/session/run/batch` without HTTP, a pure function over its ports.
 * Answers 200 with a result for each post, in order, as {@link handleSessionRunWithDefaults} answers; a refused post does not
 * affect the others. A malformed batch or an unauthenticated caller is answered with a problem. Never throws.
 * Knows no `tokens.revoke` and lists no uses: use the endpoints of `createSallyport`, or a verifier with `isRevoked`.
 */
export function handleSessionRunBatchWithDefaults(
  request: HandlerRequest,
  deps: Lenient<SessionRunDeps>,
): Promise<HandlerResult<SessionRunBatchAnswer>> {
  return handleSessionRunBatchFully(request, withDefaults(deps))
}
