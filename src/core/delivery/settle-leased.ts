import type { Clock } from '../../ports/clock.ts'
import type { DispatchStore, Settled, Settlement } from '../../ports/dispatch-store.ts'
import { type FaultDeps, reportFault } from '../answers/report-fault.ts'
import type { Hold } from './lease.ts'

/** What settling needs. */
export interface SettleDeps extends FaultDeps {
  readonly store: Pick<DispatchStore, 'settle'>
  readonly clock: Clock
}

const FIRST_WAIT_MS = 100

/**
 * Writes down how a lease ended, again and again while the store throws and the lease lasts: what is not written down is sent once
 * more. Throws what the store threw last.
 */
export async function settleLeased(
  settlement: Settlement,
  hold: Pick<Hold, 'leftMs'>,
  deps: SettleDeps,
): Promise<Settled> {
  const { store, clock } = deps
  for (let waitMs = FIRST_WAIT_MS; ; waitMs *= 2) {
    try {
      return await store.settle(settlement)
    } catch (cause) {
      if (waitMs >= hold.leftMs()) throw cause
      const { deliveryId } = settlement
      const line = { level: 'warn', event: 'delivery.settle_retried' } as const
      reportFault(cause, { operation: 'store', deliveryId }, line, deps)
      await new Promise<void>((resolve) => void clock.after(waitMs, resolve, 'keepAlive'))
    }
  }
}
