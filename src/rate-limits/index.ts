/**
 * Rate limits per token, tenant and recipient, counted by `rate-limiter-flexible`.
 * @module sallyport/rate-limits
 */
import type { ConfigProblem } from '../errors.ts'
import { hex } from '../model/sha256.ts'
import { has, matching } from '../options/checks.ts'
import { type Checks, type GivenOptions, type OptionFault, problemsAt, readOptions } from '../options/read-options.ts'
import { shown } from '../options/shown-value.ts'
import type { RateLimiter, RateLimitState, RateLimitSubject } from '../ports/rate-limiter.ts'

export type { RateLimiter, RateLimitState, RateLimitSubject } from '../ports/rate-limiter.ts'

/** The used part of a `rate-limiter-flexible` limiter, such as `RateLimiterRedis`: any that has `points` and `duration`. */
export interface FlexibleLimiter {
  /** Requests per window. */
  readonly points: number
  /** Length of a window in seconds; more than 0. */
  readonly duration: number
  /** Rejects with a {@link FlexibleLimiterResult} if no points are left, and with an `Error` if it cannot count. */
  consume(key: string, points?: number): Promise<FlexibleLimiterResult>
}

/** Result of {@link FlexibleLimiter.consume}. */
export interface FlexibleLimiterResult {
  readonly remainingPoints: number
  readonly msBeforeNext: number
}

/** Options of {@link rateLimits}: at least one limiter. */
export interface RateLimitsOptions {
  /** Limits each application secret and each session token. Default: no limit. */
  readonly token?: FlexibleLimiter
  /** Limits all tokens of a tenant together. Default: no limit. */
  readonly tenant?: FlexibleLimiter
  /** Limits dispatches to one recipient of a tenant, from all senders together. Default: no limit. */
  readonly recipient?: FlexibleLimiter
  /**
   * Required with `recipient`: HMAC-SHA-256 key, at least 32 characters, that hashes recipients before the limiter gets them. Use the
   * same key in every process; a new key starts new counts.
   */
  readonly recipientKey?: string
}

const SHORTEST_KEY = 32
const KEY_RULE = `must be at least ${SHORTEST_KEY} characters; make one with \`crypto.randomBytes(32).toString('base64url')\``

const CHECKS: Checks<RateLimitsOptions> = {
  token: limiter,
  tenant: limiter,
  recipient: limiter,
  recipientKey: matching((value) => typeof value === 'string' && value.length >= SHORTEST_KEY, KEY_RULE),
}

/**
 * Limits requests by `rate-limiter-flexible`. Limiters in Redis or a database count for all processes together. If a limiter cannot
 * count, the request is answered 503: use an `insuranceLimiter` as a fallback. One limiter may serve several options: the scope is part
 * of the key.
 * @throws {SallyportError} `option_invalid`, with all problems: there is no limiter, one has no window, or recipients are limited and the
 * key is missing or short.
 */
export function rateLimits(options: RateLimitsOptions): RateLimiter {
  const { recipientKey, ...limiters } = readOptions('rateLimits', options, CHECKS, ruleProblems)
  const hash = recipientKey === undefined ? undefined : keyedHash(recipientKey)
  const keyOf = async ({ scope, tenant, id }: RateLimitSubject): Promise<string> =>
    `${scope} ${tenant} ${scope === 'recipient' ? await hash?.(`${tenant} ${id}`) : id}`

  return {
    async consume(subject, count) {
      const limiter = limiters[subject.scope]
      return limiter && stateOf(limiter, await keyOf(subject), count)
    },
  }
}

async function stateOf(limiter: FlexibleLimiter, key: string, count: number): Promise<RateLimitState> {
  try {
    return stateFrom(limiter, await limiter.consume(key, count), true)
  } catch (refused) {
    if (refused instanceof Error || !isResult(refused)) throw refused
    return stateFrom(limiter, refused, false)
  }
}

function stateFrom(
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
  if (token === undefined && tenant === undefined && recipient === undefined)
    return [{ detail: 'limits nothing; give token, tenant or recipient' }]
  if (recipient === undefined || recipientKey !== undefined) return []
  return [{ field: 'recipientKey', detail: KEY_RULE }]
}

const consume = has(
  'a limiter of rate-limiter-flexible, such as new RateLimiterMemory({ points, duration })',
  'consume',
)

function limiter(value: unknown): OptionFault {
  const fault = consume(value, {})
  if (fault !== undefined) return fault
  const { points, duration } = Object(value) as Partial<FlexibleLimiter>
  return [
    ...(Number(points) >= 1 ? [] : problemsAt('points', `is ${shown(points)}; must be 1 or more`)),
    // Without a duration its window would never end.
    ...(Number(duration) > 0 ? [] : problemsAt('duration', `is ${shown(duration)}; must be more than 0 seconds`)),
  ]
}

const HASH = { name: 'HMAC', hash: 'SHA-256' } as const

/** HMAC-SHA-256 (RFC 2104) as 64 lower-case hex digits: without the key, guesses cannot be tested. */
function keyedHash(secret: string): (text: string) => Promise<string> {
  const utf8 = new TextEncoder()
  const key = crypto.subtle.importKey('raw', utf8.encode(secret), HASH, false, ['sign'])
  return async (text) => {
    return hex(await crypto.subtle.sign(HASH.name, await key, utf8.encode(text)))
  }
}
