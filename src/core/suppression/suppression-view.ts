import type { Delivery, Dispatch, DispatchView } from '../../model/dispatch.ts'
import { writeInstant } from '../../model/instants.ts'
import { maskAddress } from '../../model/mask-address.ts'
import type { Suppression, SuppressionView } from '../../model/suppression.ts'
import type { FeedbackStore } from '../../ports/feedback-store.ts'
import type { AddressKeys } from './address-keys.ts'

export function viewSuppression(one: Suppression): SuppressionView {
  const { channel, addressKey, reason, category, source, createdAt, expiresAt } = one
  return {
    ...{ channel, addressKey, reason, source },
    ...(category !== undefined && { category }),
    createdAt: writeInstant(createdAt),
    ...(expiresAt !== undefined && { expiresAt: writeInstant(expiresAt) }),
  }
}

/**
 * Adds to the suppressed deliveries of a view their masked addresses, and the suppressions of these that hold now; also to failed ones
 * whose address is suppressed now: a retry would not be sent.
 */
export async function viewWithSuppressions(
  view: DispatchView,
  { tenant, deliveries }: Dispatch,
  store: Pick<FeedbackStore, 'findSuppressions'>,
  addressKeys: AddressKeys,
): Promise<DispatchView> {
  if (!deliveries.some(isAsked)) return view
  const shown = view.deliveries.map(async (delivery, at) => {
    const stored = deliveries[at]
    if (!stored || !isAsked(stored) || stored.address === undefined) return delivery
    const { status, channel, address } = stored
    const found = await store.findSuppressions(await addressKeys.all(tenant, address))
    const own = found.filter((one) => one.tenant === tenant && one.channel === channel)
    if (status === 'failed' && own.length === 0) return delivery
    const suppressions = own.toSorted((one, other) => one.createdAt - other.createdAt).map(viewSuppression)
    return { ...delivery, address: maskAddress(address), suppressions }
  })
  return { ...view, deliveries: await Promise.all(shown) }
}

function isAsked({ status, reason }: Pick<Delivery, 'status' | 'reason'>): boolean {
  return reason === 'suppressed' || status === 'failed'
}
