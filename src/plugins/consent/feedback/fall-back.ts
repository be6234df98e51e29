import { port } from '../../../core/answers/fault.ts'
import type { Dispatch } from '../../../model/dispatch.ts'
import type { NewFeedback } from '../feedback-records.ts'
import type { FeedbackDeps } from './feedback-deps.ts'
import { deliveryIdOf } from './feedback-owner.ts'

/**
 * Continues dispatches whose events have `fallbackOn` after bounces. Repeated reports too: an earlier request may have ended after it stored
 * the report.
 *
 * @param reports Stored reports.
 */
export async function fallBackAfter(reports: readonly NewFeedback[], deps: FeedbackDeps): Promise<void> {
  const { store, events } = deps
  const fallsBack = (eventType: string): boolean => events.find(eventType)?.fallbackOn?.includes('bounced') ?? false
  const bounces = reports.filter(({ kind }) => kind === 'bounced')
  if (bounces.length === 0 || !events.eventTypes.some(fallsBack)) return
  for (const report of bounces) {
    const deliveryId = deliveryIdOf(report)
    if (deliveryId === undefined) continue
    const dispatch = await port('store_unavailable', () => store.findByDelivery(report.tenant, deliveryId))
    if (!dispatch || !fallsBack(dispatch.eventType)) continue
    if (await isOfDelivery(report, deliveryId, dispatch, deps)) await deps.fallBack(dispatch, deliveryId)
  }
}

/** Whether the report is about the delivery's own address, not about that of a copy. */
async function isOfDelivery(
  { tenant, channel, addressKey }: NewFeedback,
  deliveryId: string,
  { deliveries }: Dispatch,
  { addressKeys }: FeedbackDeps,
): Promise<boolean> {
  const delivery = deliveries.find((one) => one.deliveryId === deliveryId && one.channel === channel)
  if (delivery?.address === undefined) return false
  return addressKey === undefined || addressKey === (await addressKeys.current(tenant, delivery.address))
}
