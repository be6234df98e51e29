import type { Delivery, Dispatch } from '../../model/dispatch.ts'
import { writeInstant } from '../../model/instants.ts'
import { maskAddress } from '../../model/mask-address.ts'
import type { Suppression, SuppressionView } from '../../model/suppression.ts'
import type { AddressKeys } from './address-keys.ts'
import type { SuppressionRecords } from './suppression-records.ts'

export function viewSuppression(one: Suppression): SuppressionView {
  const { channel, addressKey, reason, category, source, createdAt, expiresAt } = one
  return {
    ...{ channel, addressKey, reason, source },
    ...(category !== undefined && { category }),
    createdAt: writeInstant(createdAt),
    ...(expiresAt !== undefined && { expiresAt: writeInstant(expiresAt) }),
  }
}

/** An address to which a delivery is not sent. */
interface SuppressedDelivery {
  /** Masked. */
  readonly address: string
  readonly suppressions: readonly SuppressionView[]
}

/**
 * Finds the suppressions that hold now for the suppressed deliveries of a dispatch, by delivery id; also for failed ones whose address is
 * suppressed now: a retry would not be sent.
 */
export async function findSuppressedDeliveries(
  { tenant, deliveries }: Dispatch,
  suppressions: Pick<SuppressionRecords, 'find'>,
  addressKeys: AddressKeys,
): Promise<ReadonlyMap<string, SuppressedDelivery>> {
  const shown = new Map<string, SuppressedDelivery>()
  const find = async ({ deliveryId, status, channel, address = '' }: Delivery): Promise<void> => {
    const found = await suppressions.find(await addressKeys.all(tenant, address))
    const own = found.filter((one) => one.tenant === tenant && one.channel === channel)
    if (status === 'failed' && own.length === 0) return
    const views = own.toSorted((one, other) => one.createdAt - other.createdAt).map(viewSuppression)
    shown.set(deliveryId, { address: maskAddress(address), suppressions: views })
  }
  await Promise.all(deliveries.filter((one) => isAsked(one) && one.address !== undefined).map(find))
  return shown
}

function isAsked({ status, reason }: Pick<Delivery, 'status' | 'reason'>): boolean {
  return reason === 'suppressed' || status === 'failed'
}
