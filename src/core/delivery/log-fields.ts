import type { ClaimedDelivery } from '../../ports/dispatch-store.ts'

/** Fields of log lines about a delivery. */
export function deliveryFields({ deliveryId, channel, dispatch }: ClaimedDelivery): {
  deliveryId: string
  dispatchId: string
  channel: string
} {
  return { deliveryId, dispatchId: dispatch.dispatchId, channel }
}

/** Fields of an attempt's log lines: with its number. */
export function attemptFields(claimed: ClaimedDelivery): ReturnType<typeof deliveryFields> & { attempt: number } {
  return { attempt: claimed.attempts, ...deliveryFields(claimed) }
}

/** Fields of an error's context: with the event type. */
export function faultFields(claimed: ClaimedDelivery): ReturnType<typeof deliveryFields> & { eventType: string } {
  return { eventType: claimed.dispatch.eventType, ...deliveryFields(claimed) }
}
