import type { FeedbackOwner } from '../../ports/feedback-store.ts'

interface Place {
  readonly tenant: string
  readonly channel: string
}

/** Owner of an event: the delivery if the provider names it, else the message, else the event itself. */
export function ownerOf(
  event: { readonly deliveryId?: string; readonly providerMessageId?: string; readonly eventId: string },
  { tenant, channel }: Place,
): FeedbackOwner {
  const { deliveryId, providerMessageId, eventId } = event
  if (deliveryId !== undefined) return { tenant, channel, owner: `delivery:${deliveryId}` }
  if (providerMessageId !== undefined) return { tenant, channel, owner: `message:${providerMessageId}` }
  return { tenant, channel, owner: `event:${eventId}` }
}

/** Owners of the reports about a delivery. Both count: a provider may name the delivery in some events only. */
export function ownersOfDelivery(
  { deliveryId, providerMessageId }: { readonly deliveryId: string; readonly providerMessageId?: string },
  { tenant, channel }: Place,
): readonly FeedbackOwner[] {
  const own = { tenant, channel, owner: `delivery:${deliveryId}` }
  return providerMessageId === undefined ? [own] : [own, { tenant, channel, owner: `message:${providerMessageId}` }]
}
