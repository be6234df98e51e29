import { isStorable } from '../../model/json.ts'
import { noVerdict } from '../../options/wrong-return.ts'
import type { DeliveryPolicy, PolicyQuestion, SendLimit, Verdict } from '../../ports/delivery-policy.ts'

const SEND: Verdict = { verdict: 'send' }

/**
 * Calls the policy for one channel. Throws for an invalid verdict, so that a broken policy never allows sending.
 *
 * @param call Names its method in that error.
 */
export async function askPolicy(
  policy: DeliveryPolicy | undefined,
  question: PolicyQuestion,
  call = 'decide() of the policy',
): Promise<Verdict> {
  if (!policy) return SEND
  const given: unknown = await policy.decide(question)
  if (isVerdict(given)) return given
  throw noVerdict(call, given)
}

/** The stored word of a deferred message. A policy of the host may name anything. */
export function deferredFor(verdict: Verdict | undefined): 'quiet_hours' | 'policy' {
  return verdict?.verdict === 'defer' && verdict.for === 'quiet_hours' ? 'quiet_hours' : 'policy'
}

function isVerdict(given: unknown): given is Verdict {
  if (typeof given !== 'object' || given === null || !('verdict' in given)) return false
  switch (given.verdict) {
    case 'skip':
      return 'reason' in given && (given.reason === 'opted_out' || given.reason === 'throttled')
    case 'send':
      return hasLimits(given)
    case 'defer':
      return 'until' in given && isTime(given.until) && hasLimits(given)
    default:
      return false
  }
}

/** The last year that RFC 3339 can write. */
const END_OF_TIME = Date.UTC(9999, 0)

function isTime(until: unknown): boolean {
  return typeof until === 'number' && until >= 0 && until <= END_OF_TIME
}

const MAX_KEY = 512
const MAX_COUNT = 1_000

function hasLimits(given: object): boolean {
  const limits: unknown = 'limits' in given ? given.limits : undefined
  return limits === undefined || (Array.isArray(limits) && limits.every(isLimit))
}

function isLimit(given: Partial<SendLimit> | null | undefined): boolean {
  const { key, max = 0, windowMs = 0 } = given ?? {}
  const hasKey = typeof key === 'string' && key.length >= 1 && key.length <= MAX_KEY && isStorable(key)
  return hasKey && Number.isInteger(max) && max >= 1 && max <= MAX_COUNT && Number.isFinite(windowMs) && windowMs > 0
}
