import type { DispatchStore } from '../../../ports/dispatch-store.ts'
import type { Database } from '../connection/database.ts'
import { retryOnConflict } from '../connection/retry-on-conflict.ts'
import { NOW } from '../connection/statements.ts'
import { fenceOf, type LeaseCache } from './lease-cache.ts'
import type { LowWaterMarks } from './low-water-marks.ts'

/** Renews leases by the database's clock. */
export function renewals(db: Database, memory: LeaseCache, marks: LowWaterMarks): DispatchStore['renew'] {
  const { dialect, nameOf, change } = db
  const [until, id, mark] = [1, 2, 3].map(dialect.parameter)
  const text = `update ${nameOf('deliveries')} set wake_at = ${NOW} + ${until}, version = version + 1
    where delivery_id = ${id} and fence = ${mark} and status = 'sending'`

  return async (lease, leaseMs) => {
    const earliest = db.now() + leaseMs
    const changed = await retryOnConflict(() => change(text, [leaseMs, lease.deliveryId, fenceOf(lease)]))
    if (changed === 0) return false
    marks.renewed(earliest)
    const leased = memory.find(lease)
    if (leased) memory.keep({ ...leased, delivery: { ...leased.delivery, version: leased.delivery.version + 1 } })
    return true
  }
}
