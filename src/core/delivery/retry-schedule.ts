/** Milliseconds before each further attempt at a message, for channels that have no schedule of their own. */
export const MESSAGE_RETRIES: readonly number[] = [1, 5, 15, 45, 120, 240, 480, 900].map((seconds) => seconds * 1000)

const JITTER = 0.2

/** The bounds of a retry, beside its schedule. */
export interface RetryBounds {
  /** Milliseconds until the delivery expires. */
  readonly leftMs: number
  /** The wait that the provider asked for, in milliseconds: any number. Negative ones and `NaN` ask for nothing. */
  readonly retryAfterMs?: number | undefined
}

/**
 * How long to wait after a failed attempt: the schedule's step, varied by +-20 %. A longer wait that the provider asked for
 * takes the place of the step's least; the variation comes on top, so that those who were asked together do not come back together.
 * `undefined`: that was the last attempt, or the next one would come after the expiry.
 *
 * The variation is drawn from the delivery's id, so that it needs no source of chance and spreads deliveries all the same. Where
 * it alone would pass the expiry, it is left out.
 *
 * @param attempt The attempt that failed, 1 for the first.
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
  const varied = soonest + Math.floor((spread + 1) * unitHash(`${deliveryId}:${attempt}`))
  return [varied, soonest].find((delayMs) => delayMs < leftMs)
}

/** FNV-1a with a final mix, as a number from 0 to below 1. */
function unitHash(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 0x100000000
}
