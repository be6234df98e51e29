import type { Content, DeliveryReason } from '../../model/dispatch.ts'
import type { ClaimedDelivery, Settlement } from '../../ports/dispatch-store.ts'

type Leased = Pick<ClaimedDelivery, 'deliveryId' | 'fence'>

/** Before another look, by a worker that may know what this one does not: one that was deployed meanwhile. */
export const ELSEWHERE_MS = 60_000

/** Puts a delivery back, unsent: it is due again after `delayMs`, and this attempt counts for nothing. */
export function putBack({ deliveryId, fence }: Leased, delayMs: number, content?: Content): Settlement {
  return { deliveryId, fence, to: 'queued', delayMs, ...(content && { content }) }
}

/** Ends a delivery, unsent. */
export function endUnsent({ deliveryId, fence }: Leased, to: 'failed' | 'skipped', reason: DeliveryReason): Settlement {
  return { deliveryId, fence, to, reason }
}

/** Where an attempt failed. */
export function faultPlaceOf(claimed: ClaimedDelivery): ReturnType<typeof placeOf> & { eventType: string } {
  return { eventType: claimed.dispatch.eventType, ...placeOf(claimed) }
}

/** Which delivery it is, for the log. */
export function placeOf({ deliveryId, channel, dispatch }: ClaimedDelivery): {
  deliveryId: string
  dispatchId: string
  channel: string
} {
  return { deliveryId, dispatchId: dispatch.dispatchId, channel }
}
