import type { FeedbackOwner } from '../feedback-records.ts'

const OF_DELIVERY = 'delivery:'

/** Place of a report: deliveries of one channel of one tenant. */
export interface FeedbackPlace {
  readonly tenant: string
  readonly channel: string
}

/** Owner of an event: the delivery if the provider names it, else the message, else the event itself. */
export function ownerOf(
  event: { readonly deliveryId?: string; readonly providerMessageId?: string; readonly eventId: string },
  { tenant, channel }: FeedbackPlace,
): FeedbackOwner {
  const { deliveryId, providerMessageId, eventId } = event
  if (deliveryId !== undefined) return { tenant, channel, owner: `${OF_DELIVERY}${deliveryId}` }
  if (providerMessageId !== undefined) return { tenant, channel, owner: `message:${providerMessageId}` }
  return { tenant, channel, owner: `event:${eventId}` }
}

/** The delivery that a report names, if it names one. */
export function deliveryIdOf({ owner }: Pick<FeedbackOwner, 'owner'>): string | undefined {
  return owner.startsWith(OF_DELIVERY) ? owner.slice(OF_DELIVERY.length) : undefined
}

/** Owners of the reports about a delivery. Both count: a provider may name the delivery in some events only. */
export function ownersOfDelivery(
  { deliveryId, providerMessageId }: { readonly deliveryId: string; readonly providerMessageId?: string },
  { tenant, channel }: FeedbackPlace,
): readonly FeedbackOwner[] {
  const own = { tenant, channel, owner: `${OF_DELIVERY}${deliveryId}` }
  return providerMessageId === undefined ? [own] : [own, { tenant, channel, owner: `message:${providerMessageId}` }]
}
