import type { Problem, ProblemCode } from '../errors.ts'
import { isRetryable } from './retry-decision.ts'

const MARK = Symbol.for('sallyport.client')

/**
 * A call that was not answered as it should be. `code` is closed: switch on it. Beside the codes of problems, `timeout` (no answer in
 * time), `network` (no answer at all; why is its `cause`), `bad_answer` (an answer, but not of a Sallyport: `status` has its status) and
 * `option_invalid` (options that cannot be used: nothing was sent).
 *
 * Recognise it with {@link isClientError}, which also holds when two copies of the package are installed.
 */
export class ClientError extends Error {
  declare readonly code: ProblemCode | 'timeout' | 'network' | 'bad_answer' | 'option_invalid'
  /** The HTTP status; absent when there was no answer. */
  declare readonly status?: number | undefined
  /** What the server said. */
  declare readonly problem?: Problem | undefined
  /** When the server asks to be called again, in milliseconds from when it answered. */
  declare readonly retryAfterMs?: number | undefined

  /**
   * Whether the same call may do better later: after 408, 429 and any 5xx, where there was no answer or none of a Sallyport behind a 2xx
   * or 3xx, and after 401 where the token is a function.
   */
  declare readonly retryable: boolean

  constructor(
    code: ClientError['code'],
    message: string,
    facts?: Partial<Pick<ClientError, 'status' | 'problem' | 'retryAfterMs' | 'retryable' | 'cause'>>,
  ) {
    super(message)
    Object.assign(this, { name: 'ClientError', code, retryable: isRetryable(facts?.status) }, facts)
    Object.defineProperty(this, MARK, {})
  }
}

/** Whether an error is a {@link ClientError}, from any installed copy of the package. */
export function isClientError(error: unknown): error is ClientError {
  return MARK in Object(error)
}
