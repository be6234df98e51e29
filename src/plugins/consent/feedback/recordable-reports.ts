import { port } from '../../../core/answers/fault.ts'
import { categoryOf } from '../../../core/message/category-of.ts'
import { sha256 } from '../../../model/sha256.ts'
import type { SuppressionReason } from '../../../model/suppression.ts'
import type { FeedbackEvent } from '../../../ports/feedback-source.ts'
import type { NewFeedback } from '../feedback-records.ts'
import { newSuppression } from '../new-suppression.ts'
import type { NewSuppression } from '../suppression-records.ts'
import type { FeedbackDeps } from './feedback-deps.ts'
import { type FeedbackPlace, ownerOf } from './feedback-owner.ts'

interface Place extends FeedbackPlace {
  /** Name of the source. */
  readonly name: string
}

type ReportDeps = Pick<FeedbackDeps, 'store' | 'events' | 'clock' | 'addressKeys' | 'softBounceMs'>

/** Reports of the events with their suppressions, each id once. */
export async function recordableReports(
  events: readonly FeedbackEvent[],
  place: Place,
  deps: ReportDeps,
): Promise<readonly NewFeedback[]> {
  const byId = new Map<string, NewFeedback>()
  for (const event of events) {
    const report = await reportOf(event, place, deps)
    const known = byId.get(report.feedbackId)
    if (!known || report.at < known.at) byId.set(report.feedbackId, report)
  }
  return [...byId.values()]
}

async function reportOf(event: FeedbackEvent, place: Place, deps: ReportDeps): Promise<NewFeedback> {
  const { kind, code, isPermanent = false, at = deps.clock.now() } = event
  const { tenant, channel } = place
  const owner = ownerOf(event, place)
  const reason = reasonOf(event, deps)
  const facts = reason && (await factsOf(event, reason, place, deps))
  const address = event.address ?? facts?.address
  const addressKey = address === undefined ? undefined : await deps.addressKeys.current(tenant, address)
  const suppression =
    reason !== undefined && addressKey !== undefined
      ? await suppressionOf(reason, { ...facts, addressKey }, place, deps)
      : undefined
  return {
    ...owner,
    feedbackId: await sha256(
      JSON.stringify(['feedback', tenant, channel, owner.owner, kind, isPermanent, code ?? null, addressKey ?? null]),
    ),
    kind,
    at,
    ...(code !== undefined && { code }),
    ...(addressKey !== undefined && { addressKey }),
    ...(suppression && { suppression }),
  }
}

function reasonOf({ kind, isPermanent }: FeedbackEvent, { softBounceMs }: ReportDeps): SuppressionReason | undefined {
  if (kind === 'complained' || kind === 'unsubscribed') return kind
  if (kind !== 'bounced') return undefined
  return isPermanent ? 'bounced' : softBounceMs > 0 ? 'soft_bounced' : undefined
}

interface Facts {
  readonly address?: string
  /** Category of the delivery's event. */
  readonly category?: string
}

/** Reads the delivery if the event lacks its address, or its category is needed. */
async function factsOf(
  { deliveryId, address, isOfChannel = false }: FeedbackEvent,
  reason: SuppressionReason,
  { tenant, channel }: Place,
  { store, events }: ReportDeps,
): Promise<Facts | undefined> {
  const isNeeded = address === undefined || (reason === 'unsubscribed' && !isOfChannel)
  if (deliveryId === undefined || !isNeeded) return undefined
  const dispatch = await port('store_unavailable', () => store.findByDelivery(tenant, deliveryId))
  const delivery = dispatch?.deliveries.find((one) => one.deliveryId === deliveryId && one.channel === channel)
  if (!dispatch || !delivery) return undefined
  const { eventType } = dispatch
  return {
    ...(delivery.address !== undefined && { address: delivery.address }),
    ...(!isOfChannel && { category: categoryOf(eventType, events) }),
  }
}

/** An unsubscription of an unknown delivery covers all events that are not critical. */
function suppressionOf(
  reason: SuppressionReason,
  { addressKey, category }: Facts & { readonly addressKey: string },
  { name: source, tenant, channel }: Place,
  { softBounceMs }: ReportDeps,
): Promise<NewSuppression> {
  return newSuppression({
    ...{ tenant, channel, addressKey, reason, source },
    ...(reason === 'unsubscribed' && category !== undefined && { category }),
    ...(reason === 'soft_bounced' && { expiresInMs: softBounceMs }),
  })
}
