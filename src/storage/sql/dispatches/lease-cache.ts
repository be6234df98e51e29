import type { LeaseToken } from '../../../ports/dispatch-store.ts'
import { boundedMap } from '../connection/bounded-map.ts'
import type { DeliveryRecord, DispatchRecord } from '../schema/records.ts'

/** What this process leased, as it is stored. */
export interface Leased {
  readonly dispatch: DispatchRecord
  readonly delivery: DeliveryRecord
}

/** What this process leased last: who settles it here need not read it again. */
export interface LeaseCache {
  keep(leased: Leased): void
  find(lease: LeaseToken): Leased | undefined
  forget(lease: LeaseToken): void
}

/** So many are kept; one that is not is read when it is settled. */
const KEPT = 10_000

export function leaseCache(): LeaseCache {
  const kept = boundedMap<Leased>(KEPT)

  function find({ deliveryId, fence }: LeaseToken): Leased | undefined {
    const leased = kept.get(deliveryId)
    return leased && proofFor(deliveryId, leased.delivery.fence ?? '') === fence ? leased : undefined
  }

  return {
    keep: (leased) => kept.put(leased.delivery.delivery_id, leased),
    find,
    forget(lease) {
      if (find(lease)) kept.delete(lease.deliveryId)
    },
  }
}

/** What a worker is given: a claim has one fence for all that it leases, and each of them another proof. */
export function proofFor(deliveryId: string, fence: string): string {
  return `${fence}:${deliveryId}`
}

/** The fence of a proof; empty, as none is, where it is of another delivery. */
export function fenceOf({ deliveryId, fence }: LeaseToken): string {
  const end = `:${deliveryId}`
  return fence.endsWith(end) ? fence.slice(0, -end.length) : ''
}
