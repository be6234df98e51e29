import { isSallyportError, type ProblemCode } from '../../errors.ts'
import { isThrown } from '../../model/thrown.ts'
import type { IdGenerator } from '../../ports/id-generator.ts'
import {
  type ErrorContext,
  type ErrorOperation,
  type FaultContext,
  type FaultDeps,
  type FaultPlace,
  reportFault,
} from './report-fault.ts'
import { type HandlerResult, isRefused, problem, type Refused, refuse } from './result.ts'

type Unavailable = Extract<ProblemCode, `${string}_unavailable`>

/** Ports by the code that answers their errors. */
const PORTS: Readonly<Record<Unavailable, ErrorOperation>> = {
  store_unavailable: 'store',
  directory_unavailable: 'directory',
  policy_unavailable: 'policy',
  redactor_unavailable: 'redactor',
  auth_unavailable: 'auth',
  rate_limiter_unavailable: 'rate_limiter',
}

/** The subject of a call of a port, for the log and `onError`. */
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

/** Calls a port and answers its errors with this code. */
export async function port<T>(code: Unavailable, call: () => Promise<T>, place?: CallPlace): Promise<T> {
  try {
    return await call()
  } catch (cause) {
    throw portFault(code, cause, place)
  }
}

/**
 * Wraps an error of a port for the answer with this code. A configuration mistake of the host is answered 500, whichever port it came
 * through, since a retry cannot help; except for a store that is not migrated yet.
 */
export function portFault(code: Unavailable, cause: unknown, place?: CallPlace): HostFault {
  if (isThrown(cause, HostFault)) return cause
  const isMistake = isSallyportError(cause) && !isNotReady(code, cause)
  return new HostFault(isMistake ? 'internal_error' : code, PORTS[code], cause, place)
}

/** Whether a store reports that it has to be migrated first. */
function isNotReady(code: HostFault['code'], cause: unknown): boolean {
  return code === 'store_unavailable' && isSallyportError(cause) && cause.code === 'config_invalid'
}

const UNHANDLED = 'The request could not be handled.'

/** The refusal that answers a thrown value. */
export function refusalOf(thrown: unknown): Refused {
  if (!isThrown(thrown, HostFault)) return refuse('internal_error', UNHANDLED, { cause: thrown })
  const { code, cause, operation, place } = thrown
  const at = { ...place, operation }
  if (code === 'internal_error') return refuse(code, UNHANDLED, { cause, at })
  // A migration takes a person or the next deployment.
  if (isNotReady(code, cause)) return refuse(code, 'Try again later.', { headers: { 'retry-after': '30' }, cause, at })
  return refuse(code, 'Try again shortly.', { headers: { 'retry-after': '1' }, cause, at })
}

/** The dependencies of every handler beside its own ports. */
export interface AnswerDeps extends FaultDeps {
  readonly ids: IdGenerator
}

/** Turns a refusal into an answer with a request id, under which a fault and its cause are logged. */
export function answerRefusal<Body>(refused: Refused, deps: AnswerDeps): HandlerResult<Body> {
  const requestId = deps.ids.next('req')
  const answer = problem<Body>(refused, requestId)
  // Load shedding has a log line of its own, once and not for each request.
  if (answer.status >= 500 && refused.refused !== 'overloaded') {
    const { refused: code, detail, cause, at } = refused
    const line = { level: 'error', event: 'request.failed', fields: { code, detail } } as const
    reportFault(cause, { operation: 'request', requestId, ...at }, line, deps)
  }
  return answer
}

/** Runs the steps of a handler and converts their refusals and errors to answers. */
export async function answering<Body>(
  deps: AnswerDeps,
  steps: () => Promise<HandlerResult<Body> | Refused>,
): Promise<HandlerResult<Body>> {
  try {
    const outcome = await steps()
    return isRefused(outcome) ? answerRefusal(outcome, deps) : outcome
  } catch (thrown) {
    return answerRefusal(refusalOf(thrown), deps)
  }
}

/** An error of a catalogue function or a channel while an event is planned or a digest rendered. */
export interface EventFault extends Pick<FaultContext, 'operation' | 'channel' | 'field'> {
  /** Quotes no event data. */
  readonly detail: string
  /** The thrown value; absent when nothing was thrown but the result is unusable. */
  readonly cause?: unknown
  /** Thrown by an engine or a schema, not by a function of the host. */
  readonly isLibrary?: boolean | undefined
}

const CHANNEL_LINE = { level: 'error', event: 'channel.threw' } as const
const EVENT_LINE = { level: 'error', event: 'event.failed' } as const

/** Logs each fault and passes it to `onError`. */
export function reportEventFaults(faults: readonly EventFault[], place: FaultPlace, deps: FaultDeps): void {
  for (const { detail, cause = new TypeError(detail), isLibrary, ...at } of faults) {
    const line = at.operation === 'channel' ? CHANNEL_LINE : EVENT_LINE
    reportFault(cause, { ...place, ...at }, { ...line, fields: { detail }, isLibrary }, deps)
  }
}
