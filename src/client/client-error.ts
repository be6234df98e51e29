import type { Problem, ProblemCode } from '../errors.ts'

const MARK = Symbol.for('sallyport.client')

/**
 * A failed call. `code` is a closed union: the problem codes, `timeout` (no answer in time), `network` (no answer; see `cause`),
 * `bad_answer` (an answer that is not from a Sallyport server; see `status`) and `option_invalid` (nothing was sent). Test it with
 * {@link isClientError}, which works across several installed copies of the package.
 */
export class ClientError extends Error {
  declare readonly code: ProblemCode | 'timeout' | 'network' | 'bad_answer' | 'option_invalid'
  /** HTTP status; absent without an answer. */
  declare readonly status?: number | undefined
  /** Problem details of the server. */
  declare readonly problem?: Problem | undefined
  /** `Retry-After` of the server, in milliseconds from its answer. */
  declare readonly retryAfterMs?: number | undefined

  /**
   * Whether the same call may succeed later: after 408, 429 and any 5xx; without an answer; after a 2xx or 3xx that is not from a
   * Sallyport server; after 401 if the token is a function.
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

/** Whether the same request may succeed later. `status` is 0 without an answer. */
export function isRetryable(status = 0): boolean {
  return status < 400 || status === 408 || status === 429 || status >= 500
}
