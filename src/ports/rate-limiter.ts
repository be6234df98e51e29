import type { Operation } from '../model/principal.ts'

/** Subject of a rate limit: requests that are counted together. A batch counts as its posts. */
export interface RateLimitSubject {
  /** `token`: one credential. `tenant`: all its credentials. `recipient`: dispatches for one recipient of a tenant. */
  readonly scope: 'token' | 'tenant' | 'recipient'
  readonly tenant: string
  /** Principal id of a token; the recipient as sent (possibly personal data); or the tenant. */
  readonly id: string
  readonly operation: Operation
}

/** State of a limit after a request. */
export interface RateLimitState {
  readonly allowed: boolean
  readonly limit: number
  /** Requests left in this window, 0 or more. */
  readonly remaining: number
  readonly windowMs: number
  /** Milliseconds until the limit resets. */
  readonly resetMs: number
}

/** Counts requests. `rateLimits` from `sallyport/rate-limits` implements it with `rate-limiter-flexible`. */
export interface RateLimiter {
  /**
   * Counts `count` requests at once, all or none of them allowed; `undefined`: no limit. The token is counted first; the tenant only
   * if the token had requests left. A request counts 1 before its body is read, a batch of `n` posts `n - 1` more after it. A batch of
   * more posts than `limit` is refused before that with 413 `batch_too_large`. A throw, another value, or none
   * within five seconds is answered 503 `rate_limiter_unavailable`,
   * and nothing is stored.
   *
   * @param count 1 or more.
   */
  consume(subject: RateLimitSubject, count: number): Promise<RateLimitState | undefined>
}
