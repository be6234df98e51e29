import { type FaultCode, isSallyportError, type ProblemCode } from '../../errors.ts'
import type { Awaitable } from '../../model/awaitable.ts'
import { isThrown } from '../../model/thrown.ts'
import type { AuthVerifier } from '../../ports/auth-verifier.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IdGenerator } from '../../ports/id-generator.ts'
import type { Logger } from '../../ports/logger.ts'
import { logAuthRefusal } from './auth-refusals.ts'
import {
  type ErrorContext,
  type ErrorOperation,
  type FaultContext,
  type FaultDeps,
  type FaultPlace,
  logFailure,
  reportFault,
} from './report-fault.ts'
import { type HandlerResult, isRefused, problem, type Refused, refuse } from './result.ts'

type Unavailable = Extract<ProblemCode, `${string}_unavailable`>

const PORTS: Readonly<Record<Unavailable, ErrorOperation>> = {
  store_unavailable: 'store',
  directory_unavailable: 'directory',
  policy_unavailable: 'policy',
  guard_unavailable: 'guard',
  redactor_unavailable: 'redactor',
  auth_unavailable: 'auth',
  rate_limiter_unavailable: 'rate_limiter',
  feedback_unavailable: 'feedback',
}

export type CallPlace = Pick<ErrorContext, 'eventType' | 'runId'>

/** An error of host code. Its cause goes to the log and to `onError`, never to the caller. */
export class HostFault extends Error {
  readonly code: Unavailable | 'internal_error'
  readonly operation: ErrorOperation
  readonly place: CallPlace

  constructor(code: HostFault['code'], operation: ErrorOperation, cause: unknown, place: CallPlace = {}) {
    super(code, { cause })
    this.code = code
    this.operation = operation
    this.place = place
  }
}

/** Calls a port; its errors are answered with this code. */
export async function port<T>(code: Unavailable, call: () => Promise<T>, place?: CallPlace): Promise<T> {
  try {
    return await call()
  } catch (cause) {
    throw portFault(code, cause, place)
  }
}

/** Codes of a port that answered wrongly, or not in time: the next call may succeed. */
const OF_ANSWERS: readonly unknown[] = ['answer_invalid', 'no_answer'] satisfies FaultCode[]

/** Wraps an error of a port. A configuration mistake is answered 500, because a retry cannot help; except an unmigrated store. */
export function portFault(code: Unavailable, cause: unknown, place?: CallPlace): HostFault {
  if (isThrown(cause, HostFault)) return cause
  const isMistake = isSallyportError(cause) && !OF_ANSWERS.includes(cause.code) && !isNotReady(code, cause)
  return new HostFault(isMistake ? 'internal_error' : code, PORTS[code], cause, place)
}

/** True if a store reports that it must be migrated first. */
function isNotReady(code: HostFault['code'], cause: unknown): boolean {
  return code === 'store_unavailable' && isSallyportError(cause) && cause.code === 'config_invalid'
}

const UNHANDLED = 'The request could not be handled.'

export function refusalOf(thrown: unknown): Refused {
  if (!isThrown(thrown, HostFault)) return refuse('internal_error', UNHANDLED, { cause: thrown })
  const { code, cause, operation, place } = thrown
  const at = { ...place, operation }
  if (code === 'internal_error') return refuse(code, UNHANDLED, { cause, at })
  // A migration needs a person or the next deployment.
  if (isNotReady(code, cause)) return refuse(code, 'Try again later.', { headers: { 'retry-after': '30' }, cause, at })
  return refuse(code, 'Try again shortly.', { headers: { 'retry-after': '1' }, cause, at })
}

export interface AnswerDeps extends FaultDeps {
  readonly ids: IdGenerator
  readonly auth: AuthVerifier
  readonly clock: Pick<Clock, 'now' | 'after'>
}

/** Converts a refusal to an answer with a request id, and logs a fault with its cause, or a refused token, under that id. */
export function answerRefusal<Body>(refused: Refused, deps: AnswerDeps): HandlerResult<Body> {
  const requestId = deps.ids.next('req')
  const answer = problem<Body>(refused, requestId)
  if (refused.refused === 'invalid_token') logAuthRefusal(refused.reason, requestId, deps)
  // Load shedding is logged once, not for each request.
  if (answer.status >= 500 && refused.refused !== 'overloaded') {
    const { refused: code, detail, at } = refused
    const line = { level: 'error', event: 'request.failed', fields: { code, detail } } as const
    const context = { operation: 'request', requestId, ...at } as const
    if ('cause' in refused) reportFault(refused.cause, context, line, deps)
    else logFailure(context, line, deps)
  }
  return answer
}

/** Runs the steps of a handler and converts their refusals and errors to answers. */
export async function answering<Body>(
  deps: AnswerDeps,
  steps: () => Awaitable<HandlerResult<Body> | Refused>,
): Promise<HandlerResult<Body>> {
  const outcome = await refusing(steps)
  return isRefused(outcome) ? answerRefusal(outcome, deps) : outcome
}

/** Runs the steps of a handler and converts their errors to refusals. */
export async function refusing<Outcome>(steps: () => Awaitable<Outcome | Refused>): Promise<Outcome | Refused> {
  try {
    return await steps()
  } catch (thrown) {
    return refusalOf(thrown)
  }
}

/** An error of a catalogue function or a channel during planning or rendering of a digest. */
export interface EventFault extends Pick<FaultContext, 'operation' | 'channel' | 'field'> {
  /** Path of event data that the caller did not send: no error. */
  readonly missing?: string
  /** Quotes no event data. */
  readonly detail: string
  /** The thrown value; absent when the result is unusable without a throw. */
  readonly cause?: unknown
  readonly isLibrary?: boolean | undefined
}

const CHANNEL_LINE = { level: 'error', event: 'channel.threw' } as const
const EVENT_LINE = { level: 'error', event: 'event.failed' } as const

export function reportEventFaults(faults: readonly EventFault[], place: FaultPlace, deps: FaultDeps): void {
  for (const { missing, detail, cause = new TypeError(detail), isLibrary, ...at } of faults) {
    if (missing !== undefined) {
      logMissingData(missing, { ...place, ...at }, deps)
      continue
    }
    const line = at.operation === 'channel' ? CHANNEL_LINE : EVENT_LINE
    reportFault(cause, { ...place, ...at }, { ...line, fields: { detail }, isLibrary }, deps)
  }
}

/** Event types with paths that were logged as missing, by logger. */
const LOGGED = /* @__PURE__ */ new WeakMap<Logger, Set<string>>()
const MAX_LOGGED = 1_000
const MAX_PATH = 200

/** Logs once for each event type and path: the schema has the name, or does not tell its names. Logs at most 1,000 of them. */
function logMissingData(missing: string, context: FaultContext, deps: FaultDeps): void {
  const path = missing.slice(0, MAX_PATH)
  const logged = LOGGED.get(deps.logger) ?? new Set()
  LOGGED.set(deps.logger, logged)
  const key = `${context.eventType} ${path}`
  if (logged.has(key) || logged.size >= MAX_LOGGED) return
  logged.add(key)
  const detail = 'a template reads it, and the caller did not send it: does the schema of data have it?'
  logFailure(context, { level: 'warn', event: 'event.data_missing', fields: { path, detail } }, deps)
}
