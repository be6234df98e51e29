/**
 * How many requests a token, a tenant and a recipient may have, counted by `rate-limiter-flexible`.
 *
 * @module sallyport/rate-limits
 */
import type { ConfigProblem } from '../errors.ts'
import { matching } from '../options/checks.ts'
import { type Checks, type GivenOptions, readOptions } from '../options/read-options.ts'
import type { RateLimiter, RateLimitState, RateLimitSubject } from '../ports/rate-limiter.ts'
import { keyedHash } from './keyed-hash.ts'

export type { RateLimiter, RateLimitState, RateLimitSubject } from '../ports/rate-limiter.ts'

/**
 * A limiter of `rate-limiter-flexible`, described by what is used of it: `RateLimiterMemory`, `RateLimiterRedis`,
 * `RateLimiterPostgres` and the others that have `points` and a `duration`.
 */
export interface FlexibleLimiter {
  /** How many requests in a window. */
  readonly points: number
  /** How long a window is, in seconds; more than 0. */
  readonly duration: number
  /** Rejects with what {@link FlexibleLimiterResult} has when there are none left, and with an `Error` when it cannot count. */
  consume(key: string, points?: number): Promise<FlexibleLimiterResult>
}

/** What a limiter of `rate-limiter-flexible` tells. */
export interface FlexibleLimiterResult {
  readonly remainingPoints: number
  readonly msBeforeNext: number
}

/** What {@link rateLimits} takes: at least one limiter. */
export interface RateLimitsOptions {
  /** Of one application secret, or of one session token. Default: not limited. */
  readonly token?: FlexibleLimiter
  /** Of all tokens of a tenant. Default: not limited. */
  readonly tenant?: FlexibleLimiter
  /** Of dispatches for one recipient of a tenant, whoever sends them. Default: not limited. */
  readonly recipient?: FlexibleLimiter
  /**
   * With `recipient`: what recipients are hashed with before the limiter gets to see them (HMAC-SHA-256), at least 32 characters.
   * The same in every process; another one begins to count anew.
   */
  readonly recipientKey?: string
}

const SHORTEST_KEY = 32
const KEY_RULE = `must be at least ${SHORTEST_KEY} characters`

const CHECKS: Checks<RateLimitsOptions> = {
  token: limiter,
  tenant: limiter,
  recipient: limiter,
  recipientKey: matching((value) => typeof value === 'string' && value.length >= SHORTEST_KEY, KEY_RULE),
}

/**
 * Limits requests by the limiters of `rate-limiter-flexible` that it is given: those in Redis or a database hold for all
 * processes together. A limiter that cannot count makes the request 503; its `insuranceLimiter` is what to use instead.
 *
 * One limiter may stand for several: what is counted has its scope in its key.
 *
 * @throws {SallyportError} `option_invalid`, with all that is wrong at once: there is no limiter, one is none or has no window, or
 * recipients are limited and the key is missing or short.
 */
export function rateLimits(options: RateLimitsOptions): RateLimiter {
  const { recipientKey, ...limiters } = readOptions('rateLimits', options, CHECKS, ruleProblems)
  const hash = recipientKey === undefined ? undefined : keyedHash(recipientKey)
  const keyOf = async ({ scope, tenant, id }: RateLimitSubject): Promise<string> =>
    `${scope} ${tenant} ${scope === 'recipient' ? await hash?.(`${tenant} ${id}`) : id}`

  return {
    async consume(subject) {
      const limiter = limiters[subject.scope]
      return limiter && stateOf(limiter, await keyOf(subject))
    },
  }
}

async function stateOf(limiter: FlexibleLimiter, key: string): Promise<RateLimitState> {
  try {
    return reported(limiter, await limiter.consume(key), true)
  } catch (refused) {
    if (refused instanceof Error || !isResult(refused)) throw refused
    return reported(limiter, refused, false)
  }
}

function reported(
  { points, duration }: FlexibleLimiter,
  result: FlexibleLimiterResult,
  allowed: boolean,
): RateLimitState {
  const { remainingPoints, msBeforeNext } = result
  return { allowed, limit: points, remaining: remainingPoints, windowMs: duration * 1_000, resetMs: msBeforeNext }
}

function isResult(value: unknown): value is FlexibleLimiterResult {
  return typeof value === 'object' && value !== null && 'msBeforeNext' in value && 'remainingPoints' in value
}

function ruleProblems({ token, tenant, recipient, recipientKey }: GivenOptions): ConfigProblem[] {
  if (token === undefined && tenant === undefined && recipient === undefined) return [{ detail: 'limits nothing' }]
  if (recipient === undefined || recipientKey !== undefined) return []
  return [{ field: 'recipientKey', detail: KEY_RULE }]
}

function limiter(value: unknown): string | undefined {
  const { points, duration, consume } = Object(value) as Partial<FlexibleLimiter>
  if (typeof consume !== 'function') return 'is not a limiter of rate-limiter-flexible'
  if (!(typeof points === 'number' && points >= 1)) return 'has no points'
  if (!(typeof duration === 'number' && duration > 0)) return 'has no duration: its window would never end'
  return undefined
}
