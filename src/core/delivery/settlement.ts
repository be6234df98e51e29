import type { DeliveryReason } from '../../model/dispatch.ts'
import type { StoredWait } from '../../model/waiting.ts'
import type { LeaseToken, Settlement } from '../../ports/dispatch-store.ts'

type Queued = Extract<Settlement, { to: 'queued' }>

/** Wait after an unknown event type or channel. A worker with a newer deployment may know it. */
export const UNKNOWN_MS = 60_000

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
