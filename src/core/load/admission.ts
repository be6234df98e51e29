import { type Operation, type Principal, rootIdOf } from '../../model/principal.ts'
import { wrongReturn } from '../../options/wrong-return.ts'
import type { RateLimiter, RateLimitState, RateLimitSubject } from '../../ports/rate-limiter.ts'
import { port, refusalOf } from '../answers/fault.ts'
import { isRefused, type Refused, refuse } from '../answers/result.ts'

type Headers = Readonly<Record<string, string>>

/** An admitted request. */
export interface Admission {
  /** Headers of its limits, for every later answer. */
  readonly headers: Readonly<Record<string, string>>
  /** Largest number of posts that its limits allow at once. */
  readonly most: number
}

/** Counts a request for its credential (an exchanged token counts as the one that the host issued), then for its tenant. Never throws. */
export async function admitRequest(
  principal: Principal,
  operation: Operation,
  limiter: RateLimiter,
): Promise<Admission | Refused> {
  try {
    return await consumeBoth(principal, operation, 1, limiter)
  } catch (thrown) {
    return refusalOf(thrown)
  }
}

/** Counts the posts of a batch beyond the first, which was counted with its request. Returns the headers of the limits. */
export async function admitPosts(
  principal: Principal,
  posts: number,
  { most, headers }: Admission,
  limiter: RateLimiter,
): Promise<Headers | Refused> {
  if (posts > most) {
    return refuse('batch_too_large', `The rate limit allows at most ${most} posts at once.`, { limit: most })
  }
  if (posts === 1) return headers
  const more = await consumeBoth(principal, 'session_run', posts - 1, limiter)
  return isRefused(more) ? more : more.headers
}

async function consumeBoth(
  principal: Principal,
  operation: Operation,
  count: number,
  limiter: RateLimiter,
): Promise<Admission | Refused> {
  const { tenant } = principal
  const ofToken = await consume({ scope: 'token', tenant, id: rootIdOf(principal), operation }, count, limiter)
  if (isRefused(ofToken)) return ofToken
  const ofTenant = await consume({ scope: 'tenant', tenant, id: tenant, operation }, count, limiter)
  if (isRefused(ofTenant)) return ofTenant
  const both = [ofToken, ofTenant].filter((each) => each !== undefined)
  return { headers: joined(...both.map(({ headers }) => headers)), most: Math.min(...both.map(({ most }) => most)) }
}

/** Counts a dispatch for its recipient. Sends no headers of that limit: other callers may be using it. */
export async function admitRecipient(
  tenant: string,
  recipient: string,
  limiter: RateLimiter,
): Promise<Refused | undefined> {
  const state = await consume({ scope: 'recipient', tenant, id: recipient, operation: 'dispatch' }, 1, limiter)
  return isRefused(state) ? state : undefined
}

async function consume(
  subject: RateLimitSubject,
  count: number,
  limiter: RateLimiter,
): Promise<Admission | Refused | undefined> {
  const state = await port('rate_limiter_unavailable', async () => checked(await limiter.consume(subject, count)))
  if (!state) return undefined
  const headers = headersOf(subject.scope, state)
  if (state.allowed) return { headers, most: state.limit }
  const seconds = secondsOf(state.resetMs)
  return refuse('rate_limited', `Too many requests of this ${subject.scope}. Try again in ${seconds} s.`, {
    headers: { ...headers, 'retry-after': String(seconds) },
  })
}

const STATE = '{ allowed, limit, remaining, windowMs, resetMs } with a flag and four numbers, or undefined for no limit'

/** The limiter may be host code: a state that cannot be read neither allows nor refuses. */
function checked(state: RateLimitState | undefined): RateLimitState | undefined {
  if (state === undefined || state === null) return undefined
  const { allowed, limit, remaining, windowMs, resetMs } = Object(state)
  const numbers = [limit, remaining, windowMs, resetMs]
  if (typeof allowed === 'boolean' && numbers.every(Number.isFinite)) return state
  throw wrongReturn('consume() of the rate limiter', state, STATE)
}

/** Headers of draft-ietf-httpapi-ratelimit-headers: a named policy and its remaining requests. */
function headersOf(name: string, { limit, remaining, windowMs, resetMs }: RateLimitState): Headers {
  return {
    'ratelimit-policy': `"${name}";q=${limit};w=${secondsOf(windowMs)}`,
    ratelimit: `"${name}";r=${Math.max(0, remaining)};t=${secondsOf(resetMs)}`,
  }
}

/** Both headers are lists. */
function joined(one: Headers = {}, other: Headers = {}): Headers {
  const all: Record<string, string> = { ...one }
  for (const [name, value] of Object.entries(other))
    all[name] = all[name] === undefined ? value : `${all[name]}, ${value}`
  return all
}

function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000))
}
