import type { ClaimedDelivery } from '../../ports/dispatch-store.ts'

export function placeOf({ deliveryId, channel, dispatch }: ClaimedDelivery): {
  deliveryId: string
  dispatchId: string
  channel: string
} {
  return { deliveryId, dispatchId: dispatch.dispatchId, channel }
}

export function faultPlaceOf(claimed: ClaimedDelivery): ReturnType<typeof placeOf> & { eventType: string } {
  return { eventType: claimed.dispatch.eventType, ...placeOf(claimed) }
}
