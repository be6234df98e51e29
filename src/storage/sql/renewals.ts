import type { DispatchStore } from '../../ports/dispatch-store.ts'
import type { Database } from './database.ts'
import { fenceOf, type LeaseMemory } from './lease-memory.ts'
import { untilWritten } from './retries.ts'
import { NOW } from './statements.ts'

/** Renews leases by the database's clock. */
export function renewals({ dialect, nameOf, change }: Database, memory: LeaseMemory): DispatchStore['renew'] {
  const [until, id, mark] = [1, 2, 3].map(dialect.parameter)
  const text = `update ${nameOf('deliveries')} set wake_at = ${NOW} + ${until}, version = version + 1
    where delivery_id = ${id} and fence = ${mark} and status = 'sending'`

  return async (lease, leaseMs) => {
    const changed = await untilWritten(() => change(text, [leaseMs, lease.deliveryId, fenceOf(lease)]))
    const leased = memory.find(lease)
    if (changed > 0 && leased)
      memory.keep({ ...leased, delivery: { ...leased.delivery, version: leased.delivery.version + 1 } })
    return changed > 0
  }
}
