import type { AttemptEnd } from '../../../model/attempt.ts'
import type { LeaseToken, Settled, Settlement } from '../../../ports/dispatch-store.ts'
import type { DeliveryRow } from '../../rules/dispatch-rows.ts'
import { boundedMap } from '../bounded-map.ts'

interface InDoubt extends Pick<DeliveryRow, 'status' | 'attempts'> {
  readonly fence: string
  readonly to: Settlement['to']
  /** Version of the job, if it is still there. */
  readonly version: number
  readonly settled: Settled
}

/** In-doubt settlements: this process does not know whether they were written. A repeated settlement gets the first result. */
export interface InDoubtSettlements {
  /**
   * @param row The delivery after the settlement.
   * @param version Version of the job before it.
   */
  keep(settlement: Settlement, row: DeliveryRow, version: number | undefined, settled: Settled): void
  /** The result, if the delivery is exactly in the state after the settlement. */
  find(settlement: Settlement, row: DeliveryRow | undefined, version: number | undefined): Settled | undefined
  forget(lease: LeaseToken): void
}

const MAX_KEPT = 10_000

export function inDoubtSettlements(): InDoubtSettlements {
  const kept = boundedMap<InDoubt>(MAX_KEPT)
  return {
    keep({ deliveryId, fence, to }, { status, attempts }, version = 0, settled) {
      kept.put(deliveryId, { fence, to, version: version + 1, status, attempts, settled })
    },
    find({ deliveryId, fence, to, attempt }, row, version) {
      const made = kept.get(deliveryId)
      if (!row || made?.fence !== fence || made.to !== to) return undefined
      if (row.status !== made.status || row.attempts !== made.attempts) return undefined
      // Only the holder of the lease writes this version.
      if (version !== undefined && version !== made.version) return undefined
      return !attempt || endedSo(row, attempt) ? made.settled : undefined
    },
    forget({ deliveryId, fence }) {
      if (kept.get(deliveryId)?.fence === fence) kept.delete(deliveryId)
    },
  }
}

function endedSo({ attemptLog }: DeliveryRow, { outcome, code }: AttemptEnd): boolean {
  const last = attemptLog?.at(-1)
  return last?.outcome === outcome && last.code === code
}
