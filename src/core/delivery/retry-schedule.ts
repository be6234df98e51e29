/** Milliseconds before each further attempt at a message, for channels that have no schedule of their own. */
export const MESSAGE_RETRIES: readonly number[] = [1, 5, 15, 45, 120, 240, 480, 900].map((seconds) => seconds * 1000)

const JITTER = 0.2

/**
 * How long to wait after a failed attempt: the schedule's step, varied by +-20 %, or what the provider asked for, held
 * between one and two steps. `undefined`: that was the last attempt.
 *
 * The variation is drawn from the delivery's id, so that it needs no source of chance and spreads deliveries all the same.
 *
 * @param attempt The attempt that failed, 1 for the first.
 */
export function retryDelay(
  schedule: readonly number[],
  attempt: number,
  deliveryId: string,
  retryAfterMs?: number,
): number | undefined {
  const step = schedule[attempt - 1]
  if (step === undefined) return undefined
  if (retryAfterMs !== undefined && retryAfterMs >= 0)
    return Math.round(Math.min(Math.max(retryAfterMs, step), 2 * step))
  const least = Math.ceil(step * (1 - JITTER))
  const most = Math.max(least, Math.floor(step * (1 + JITTER)))
  return least + Math.floor((most - least + 1) * unitHash(`${deliveryId}:${attempt}`))
}

/** FNV-1a with a final mix, as a number from 0 to below 1. */
function unitHash(text: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193)
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return ((hash ^ (hash >>> 16)) >>> 0) / 0x100000000
}
