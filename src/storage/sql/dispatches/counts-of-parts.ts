import type { DeliveryStatus } from '../../../model/dispatch.ts'
import { type DeliveryRow, type DispatchRow, ownersOf } from '../../rules/dispatch-rows.ts'
import type { DeliveryRecord, DispatchRecord } from '../schema/records.ts'
import { addedCounts, type DispatchCounts } from './dispatch-status.ts'

interface KnownDelivery {
  readonly row: DeliveryRow
  readonly record: DeliveryRecord
}

interface KnownDispatch {
  readonly row: DispatchRow
  readonly record?: DispatchRecord
  readonly isWhole: boolean
}

type AddedCounts = DispatchCounts & { readonly dispatch_id: string }

/** What deliveries that changed add to the counts of their dispatches, where not all deliveries of these are known. */
export function countsOfParts(
  deliveries: Iterable<KnownDelivery>,
  dispatches: ReadonlyMap<string, KnownDispatch>,
): Iterable<AddedCounts> {
  const added = new Map<string, AddedCounts>()
  for (const { row, record } of deliveries) {
    for (const { head } of ownersOf(row)) {
      const known = dispatches.get(head.dispatchId)
      if (!known?.record || known.isWhole || known.record.status === null) continue
      const counts = addedCounts(record.status as DeliveryStatus, row.status, added.get(head.dispatchId))
      if (counts) added.set(head.dispatchId, { dispatch_id: head.dispatchId, ...counts })
    }
  }
  return added.values()
}
