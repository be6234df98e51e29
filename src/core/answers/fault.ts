import { isSallyportError, type ProblemCode } from '../../errors.ts'
import { isThrown } from '../../model/thrown.ts'
import type { IdGenerator } from '../../ports/id-generator.ts'
import { type ErrorContext, type ErrorOperation, type FaultDeps, reportFault } from './report-fault.ts'
import { type HandlerResult, isRefused, problem, type Refused, refuse } from './result.ts'

type Unavailable = Extract<ProblemCode, `${string}_unavailable`>

/** Each port, by the code that answers its throwing. */
const PORTS: Readonly<Record<Unavailable, ErrorOperation>> = {
  store_unavailable: 'store',
  directory_unavailable: 'directory',
  policy_unavailable: 'policy',
  redactor_unavailable: 'redactor',
  auth_unavailable: 'auth',
  rate_limiter_unavailable: 'rate_limiter',
}

/** What a call of a port is about, for the log and `onError`. */
export type CallPlace = Pick<ErrorContext, 'eventType' | 'runId'>

/** A part of the host that threw. Its cause goes to the log and to `onError`, never to the caller. */
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

/** Calls a port, so that its throwing is answered with that code. */
export async function port<T>(code: Unavailable, call: () => Promise<T>, place?: CallPlace): Promise<T> {
  try {
    return await call()
  } catch (cause) {
    throw portFault(code, cause, place)
  }
}

/**
 * What a port threw, to be thrown on and answered with that code. A mistake of the host that comes to light within the call is
 * answered 500, whatever port it came through, since it is of no use to try again; but a store that is not migrated will be.
 */
export function portFault(code: Unavailable, cause: unknown, place?: CallPlace): HostFault {
  if (isThrown(cause, HostFault)) return cause
  const isMistake = isSallyportError(cause) && !isNotReady(code, cause)
  return new HostFault(isMistake ? 'internal_error' : code, PORTS[code], cause, place)
}

/** Whether a store says that it has to be migrated first. */
function isNotReady(code: HostFault['code'], cause: unknown): boolean {
  return code === 'store_unavailable' && isSallyportError(cause) && cause.code === 'config_invalid'
}

const UNHANDLED = 'The request could not be handled.'

/** The refusal that answers whatever was thrown. */
export function refusalOf(thrown: unknown): Refused {
  if (!isThrown(thrown, HostFault)) return refuse('internal_error', UNHANDLED, { cause: thrown })
  const { code, cause, operation, place } = thrown
  const at = { ...place, operation }
  if (code === 'internal_error') return refuse(code, UNHANDLED, { cause, at })
  // It is migrated by hand, or by the next deploy.
  if (isNotReady(code, cause)) return refuse(code, 'Try again later.', { headers: { 'retry-after': '30' }, cause, at })
  return refuse(code, 'Try again shortly.', { headers: { 'retry-after': '1' }, cause, at })
}

/** What every handler needs beside its own ports. */
export interface AnswerDeps extends FaultDeps {
  readonly ids: IdGenerator
}

/** Turns a refusal into an answer with a request id, under which a fault and its cause are logged. */
export function answerRefusal<Body>(refused: Refused, deps: AnswerDeps): HandlerResult<Body> {
  const requestId = deps.ids.next('req')
  const answer = problem<Body>(refused, requestId)
  // Whoever sheds says so once, and not for each.
  if (answer.status >= 500 && refused.refused !== 'overloaded') {
    const { refused: code, detail, cause, at } = refused
    const line = { level: 'error', event: 'request.failed', fields: { code, detail } } as const
    reportFault(cause, { operation: 'request', requestId, ...at }, line, deps)
  }
  return answer
}

/** Runs the steps of a handler: what they refuse and what they throw are answers too. */
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
