import type { Operation } from '../model/principal.ts'

/** Whose requests are counted together. */
export interface RateLimitSubject {
  /** `token`: of one credential. `tenant`: of all its credentials. `recipient`: dispatches for one recipient of a tenant. */
  readonly scope: 'token' | 'tenant' | 'recipient'
  readonly tenant: string
  /** Of a token the principal's id, of a recipient what was sent: a person's address, perhaps. Of a tenant the tenant. */
  readonly id: string
  readonly operation: Operation
}

/** What is left after a request. */
export interface RateLimitState {
  /** Whether the request is one of those that are allowed. */
  readonly allowed: boolean
  /** How many are allowed in a window. */
  readonly limit: number
  /** How many are left in this one, 0 or more. */
  readonly remaining: number
  /** How long a window is, in milliseconds. */
  readonly windowMs: number
  /** When there will be more, in milliseconds from now. */
  readonly resetMs: number
}

/** Counts requests. `rateLimits` from `sallyport/rate-limits` is one, over `rate-limiter-flexible`. */
export interface RateLimiter {
  /**
   * Counts one request of a subject. `undefined`: it is not limited. It is asked for the token before the tenant, and not for
   * the tenant when the token has none left. A throw means that the limiter is unavailable: 503 `rate_limiter_unavailable`,
   * and nothing is stored.
   */
  consume(subject: RateLimitSubject): Promise<RateLimitState | undefined>
}
