import type { AttemptEnd } from '../../../model/dispatch.ts'
import type { LeaseToken, Settled, Settlement } from '../../../ports/dispatch-store.ts'
import type { DeliveryRow } from '../../rules/dispatch-rows.ts'
import { boundedMap } from '../connection/bounded-map.ts'
import type { KnownDelivery } from './dispatch-unit-of-work.ts'

/** Settlements of which it is not known yet whether they are written: who tries again hears what came of them. */
export interface InDoubtSettlements {
  /** @param made The delivery as it was found, and as this was to leave it. */
  keep(settlement: Settlement, made: KnownDelivery, settled: Settled): void
  /** What came of it, where the delivery that is found now is just what it was to leave. */
  find(settlement: Settlement, found: KnownDelivery | undefined): Settled | undefined
  forget(lease: LeaseToken): void
}

interface InDoubt {
  readonly fence: string
  readonly to: Settlement['to']
  readonly version: number
  readonly status: DeliveryRow['status']
  readonly attempts: number
  readonly settled: Settled
}

/** So many are kept; one that is not counts as lost to another. */
const KEPT = 10_000

export function inDoubtSettlements(): InDoubtSettlements {
  const kept = boundedMap<InDoubt>(KEPT)
  return {
    keep({ deliveryId, fence, to }, { row: { status, attempts }, record }, settled) {
      kept.put(deliveryId, { fence, to, version: record.version + 1, status, attempts, settled })
    },
    find({ deliveryId, fence, to, attempt }, found) {
      const made = kept.get(deliveryId)
      if (!found || made?.fence !== fence || made.to !== to) return undefined
      const { row, record } = found
      // Nobody else could: who has no such lease makes no such version.
      const isSame = record.version === made.version && row.status === made.status && row.attempts === made.attempts
      return isSame && (!attempt || isEnd(row, attempt)) ? made.settled : undefined
    },
    forget({ deliveryId, fence }) {
      if (kept.get(deliveryId)?.fence === fence) kept.delete(deliveryId)
    },
  }
}

/** Whether its last attempt ended so. */
function isEnd({ attemptLog }: DeliveryRow, { outcome, code }: AttemptEnd): boolean {
  const last = attemptLog?.at(-1)
  return last?.outcome === outcome && last.code === code
}
