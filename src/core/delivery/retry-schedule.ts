/** Default retry schedule of a channel: milliseconds before each further attempt. */
export const MESSAGE_RETRIES: readonly number[] = [1, 5, 15, 45, 120, 240, 480, 900].map((seconds) => seconds * 1000)

const JITTER = 0.2

export interface RetryBounds {
  readonly leftMs: number
  /** The provider's `Retry-After`, in milliseconds. Negative numbers and `NaN` are ignored. */
  readonly retryAfterMs?: number | undefined
}

/**
 * Backoff with jitter: milliseconds to wait after a failed attempt. The wait is the schedule's step, +-20 %. A longer `Retry-After`
 * replaces the lower bound; the jitter is added, so that deliveries do not return together. `undefined`: it was the last attempt,
 * or the next one would be after the expiry.
 *
 * The jitter is a hash of the delivery's id and the attempt: pure, and spread over deliveries. It is omitted when only the jitter
 * would exceed the expiry.
 *
 * @param attempt The failed attempt, 1-based.
 */
export function retryDelay(
  schedule: readonly number[],
  attempt: number,
  deliveryId: string,
  { leftMs, retryAfterMs = 0 }: RetryBounds,
): number | undefined {
  const step = schedule[attempt - 1]
  if (step === undefined) return undefined
  const least = Math.ceil(step * (1 - JITTER))
  const spread = Math.max(0, Math.floor(step * (1 + JITTER)) - least)
  const soonest = retryAfterMs > least ? Math.ceil(retryAfterMs) : least
  const jittered = soonest + Math.floor((spread + 1) * unitHash(`${deliveryId}:${attempt}`))
  return [jittered, soonest].find((delayMs) => delayMs < leftMs)
}

/** FNV-1a with a final mix, as a number from 0 to below 1. */
function unitHash(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 0x100000000
}
