import type { Operation } from '../model/principal.ts'

/** Subject of a rate limit: requests that are counted together. */
export interface RateLimitSubject {
  /** `token`: of one credential. `tenant`: of all its credentials. `recipient`: dispatches for one recipient of a tenant. */
  readonly scope: 'token' | 'tenant' | 'recipient'
  readonly tenant: string
  /** Principal id of a token; the recipient as sent (perhaps a person's address); or the tenant. */
  readonly id: string
  readonly operation: Operation
}

/** State of a limit after a request. */
export interface RateLimitState {
  /** Whether this request is allowed. */
  readonly allowed: boolean
  /** Requests allowed in a window. */
  readonly limit: number
  /** Requests left in this window, 0 or more. */
  readonly remaining: number
  /** Length of a window in milliseconds. */
  readonly windowMs: number
  /** Milliseconds until the limit resets. */
  readonly resetMs: number
}

/** Counts requests. `rateLimits` from `sallyport/rate-limits` is one, over `rate-limiter-flexible`. */
export interface RateLimiter {
  /**
   * Counts one request. `undefined`: the subject has no limit. The token is counted first; the tenant only if the token had
   * requests left. A throw means that the limiter is unavailable: 503 `rate_limiter_unavailable`, and nothing is stored.
   */
  consume(subject: RateLimitSubject): Promise<RateLimitState | undefined>
}
