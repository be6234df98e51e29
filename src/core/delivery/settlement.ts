import type { DeliveryReason } from '../../model/dispatch.ts'
import type { StoredWait } from '../../model/waiting.ts'
import type { LeaseToken, Settlement } from '../../ports/dispatch-store.ts'
import { isUnreadable, type Sent } from './read-outcome.ts'

export type Queued = Extract<Settlement, { to: 'queued' }>

/** Wait after an unknown event type or channel. A worker with a newer deployment may know it. */
export const UNKNOWN_MS = 60_000

/** Wait after a policy or a guard that did not answer. */
export const UNAVAILABLE_MS = 30_000

/** Settlement that queues a delivery again, unsent, due after `delayMs`; the attempt is not counted. */
export function putBack({ deliveryId, fence }: LeaseToken, delayMs: number, waitsFor?: StoredWait): Queued {
  return { deliveryId, fence, to: 'queued', delayMs, waitsFor }
}

export function endUnsent(
  { deliveryId, fence }: LeaseToken,
  to: 'failed' | 'skipped',
  reason: DeliveryReason,
): Settlement {
  return { deliveryId, fence, to, reason }
}

/**
 * Settlement of a send.
 *
 * @param delayMs Time until the next attempt; `undefined` when none is left before the expiry.
 * @param pausedMs Time until the end of its receiver's pause; `undefined`: not paused.
 */
export function settleSend(
  { end: attempt, byChannel, thrown }: Sent,
  { deliveryId, fence }: LeaseToken,
  delayMs: number | undefined,
  pausedMs: number | undefined,
): Settlement {
  const tried = { deliveryId, fence, attempt }
  if (attempt.outcome === 'sent') return { to: 'sent', ...tried }
  if (attempt.outcome === 'rejected')
    return { to: 'failed', reason: byChannel ? 'channel_rejected' : 'provider_rejected', ...tried }
  if (isUnreadable(attempt)) return { to: 'failed', reason: 'channel_error', ...tried }
  if (delayMs === undefined) return { to: 'failed', reason: thrown ? 'channel_error' : 'attempts_exhausted', ...tried }
  if (pausedMs !== undefined && pausedMs >= delayMs)
    return { to: 'queued', delayMs: pausedMs, waitsFor: 'receiver_paused', ...tried }
  return { to: 'queued', delayMs, ...tried }
}
