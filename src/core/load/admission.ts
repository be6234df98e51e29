import type { Operation, Principal } from '../../model/principal.ts'
import type { RateLimiter, RateLimitState, RateLimitSubject } from '../../ports/rate-limiter.ts'
import { port, refusalOf } from '../answers/fault.ts'
import { isRefused, type Refused, refuse } from '../answers/result.ts'

type Headers = Readonly<Record<string, string>>

/** Counts a request for its credential, then for its tenant; gives the headers with the rest of both limits. Never throws. */
export async function admitRequest(
  { id, tenant }: Principal,
  operation: Operation,
  limiter: RateLimiter,
): Promise<Headers | Refused> {
  try {
    const ofToken = await consume({ scope: 'token', tenant, id, operation }, limiter)
    if (isRefused(ofToken)) return ofToken
    const ofTenant = await consume({ scope: 'tenant', tenant, id: tenant, operation }, limiter)
    return isRefused(ofTenant) ? ofTenant : joined(ofToken, ofTenant)
  } catch (thrown) {
    return refusalOf(thrown)
  }
}

/** Counts a dispatch for its recipient. The rest of that limit stays secret: other callers may be using it. */
export async function admitRecipient(
  tenant: string,
  recipient: string,
  limiter: RateLimiter,
): Promise<Refused | undefined> {
  const headers = await consume({ scope: 'recipient', tenant, id: recipient, operation: 'dispatch' }, limiter)
  return isRefused(headers) ? headers : undefined
}

async function consume(subject: RateLimitSubject, limiter: RateLimiter): Promise<Headers | Refused | undefined> {
  const state = await port('rate_limiter_unavailable', () => limiter.consume(subject))
  if (!state) return undefined
  const headers = headersOf(subject.scope, state)
  if (state.allowed) return headers
  const seconds = secondsOf(state.resetMs)
  return refuse('rate_limited', `Too many requests of this ${subject.scope}. Try again in ${seconds} s.`, {
    headers: { ...headers, 'retry-after': String(seconds) },
  })
}

/** The headers of draft-ietf-httpapi-ratelimit-headers: a named policy and its rest. */
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

/** Whole seconds, rounded up, at least 1. */
function secondsOf(ms: number): number {
  return Math.max(1, Math.ceil(ms / 1_000))
}
