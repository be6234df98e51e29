import type { DeliveryRow } from '../../rules/dispatch-rows.ts'
import type { DeliveryRecord } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'

export function isChanged(before: DeliveryRecord, after: DeliveryRecord): boolean {
  for (const name in after) {
    const key = name as keyof DeliveryRecord
    if (before[key] !== after[key]) return true
  }
  return false
}

/** Whether a column differs that no update writes. The row is then removed, and inserted anew: the delivery was planned again. */
export function isMadeAnew(before: DeliveryRecord, after: DeliveryRecord): boolean {
  return FIXED.some((name) => before[name] !== after[name])
}

const FIXED = (Object.keys(TABLES.deliveries.columns) as (keyof DeliveryRecord)[]).filter(
  (name) => TABLES.deliveries.columns[name].fixed,
)

/** Whether a digest was open before another. */
export function openedBefore(one: DeliveryRow, other: DeliveryRow): boolean {
  const before = (one.digest?.opened ?? 0) - (other.digest?.opened ?? 0)
  return before < 0 || (before === 0 && one.deliveryId < other.deliveryId)
}
