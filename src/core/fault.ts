import { isSallyportError, type ProblemCode } from '../errors.ts'
import { describeThrown } from '../model/thrown.ts'
import type { IdGenerator } from '../ports/id-generator.ts'
import type { Logger } from '../ports/logger.ts'
import { type HandlerResult, isRefused, problem, type Refused, refuse } from './result.ts'

type Unavailable = Extract<ProblemCode, `${string}_unavailable`>

/** A port that threw. Its cause goes to the log, never to the caller. */
class PortFault extends Error {
  readonly #isOne = true
  readonly code: Unavailable

  constructor(code: Unavailable, cause: unknown) {
    super(code, { cause })
    this.code = code
  }

  /** Unlike `instanceof`, this asks nothing of a value that may throw at every touch. */
  static of(thrown: unknown): PortFault | undefined {
    return typeof thrown === 'object' && thrown !== null && #isOne in thrown ? thrown : undefined
  }
}

/** Calls a port, so that its throwing is answered with that code. */
export async function port<T>(code: Unavailable, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (cause) {
    throw portFault(code, cause)
  }
}

/**
 * What a port threw, to be thrown on and answered with that code. A mistake of the host that comes to light within the call is
 * one, whatever port it came through: to try again is of no use.
 */
export function portFault(code: Unavailable, cause: unknown): unknown {
  return isSallyportError(cause) ? cause : new PortFault(code, cause)
}

/** The refusal that answers whatever was thrown. */
export function refusalOf(thrown: unknown): Refused {
  const fault = PortFault.of(thrown)
  if (!fault) return refuse('internal_error', 'The request could not be handled.', { cause: thrown })
  return refuse(fault.code, 'Try again shortly.', { headers: { 'retry-after': '1' }, cause: fault.cause })
}

/** What every handler needs beside its own ports. */
export interface AnswerDeps {
  readonly ids: IdGenerator
  readonly logger: Logger
}

/** Turns a refusal into an answer with a request id, under which a fault and its cause are logged. */
export function answerRefusal<Body>(refused: Refused, deps: AnswerDeps): HandlerResult<Body> {
  const requestId = deps.ids.next('req')
  const answer = problem<Body>(refused, requestId)
  // Whoever sheds says so once, and not for each.
  if (answer.status >= 500 && refused.refused !== 'overloaded') {
    deps.logger.log('error', 'request.failed', {
      requestId,
      code: refused.refused,
      detail: refused.detail,
      ...describeCause(refused.cause),
    })
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

/** What may be logged of a thrown value: its name and code; its message only when it is ours, since a library's may quote data. */
export function describeCause(cause: unknown): { cause?: string; causeCode?: string } {
  if (cause === undefined) return {}
  return isSallyportError(cause) ? { cause: cause.message, causeCode: cause.code } : describeThrown(cause)
}
