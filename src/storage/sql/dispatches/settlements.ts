import type { AttemptEnd } from '../../../model/attempt.ts'
import type { DispatchStore, LeaseToken, Settled, Settlement } from '../../../ports/dispatch-store.ts'
import { settleDelivery } from '../../rules/delivery-transitions.ts'
import type { DeliveryRow } from '../../rules/dispatch-rows.ts'
import { boundedMap } from '../connection/bounded-map.ts'
import { NOW, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { groupCommit, jsonSize } from '../connection/group-commit.ts'
import type { DeliveryRecord, DispatchRecord } from '../schema/records.ts'
import type { KnownDelivery } from './dispatch-records.ts'
import { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { loadDispatches, loadOwners } from './load-dispatches.ts'
import type { LowWaterMarks } from './low-water-marks.ts'

/** Settles leases. A cached delivery whose end affects no other row is written without a read, in a group commit. */
export function settlements(db: Database, leases: LeaseCache): DispatchStore['settle'] {
  const inDoubt = inDoubtSettlements()

  async function write(
    work: DispatchUnitOfWork,
    now: number,
    asked: readonly Settlement[],
  ): Promise<readonly (Settled | undefined)[]> {
    const latest = now + db.uncertaintyMs()
    const settled = asked.map((settlement) => {
      const found = work.found(settlement.deliveryId)
      if (!found) return undefined
      const one = settleDelivery(found.row, settlement, now, work.moves, latest)
      // The write may complete although it fails or times out here.
      inDoubt.keep(settlement, found, one)
      return one
    })
    await work.write(db)
    return settled
  }

  /** `undefined`: the delivery must be read first. */
  async function settleKnown(asked: readonly Settlement[]): Promise<readonly (Settled | undefined)[]> {
    await db.sync()
    const now = db.now()
    const work = new DispatchUnitOfWork(now, db.uncertaintyMs())
    for (const settlement of asked) {
      const leased = leases.find(settlement)
      if (!leased || leased.delivery.alone === null) continue
      work.putDispatch(leased.dispatch, false)
      work.putDelivery(leased.delivery)
    }
    return write(work, now, asked)
  }

  /** Settles a delivery together with the changes that follow from it. */
  function settleWhole(settlement: Settlement): Promise<Settled> {
    return retryOnConflict(async () => {
      await db.sync()
      const now = db.now()
      const work = new DispatchUnitOfWork(now, db.uncertaintyMs())
      await loadDispatches(await loadOwners([settlement.deliveryId], db), 'whole', db, work)
      const found = work.found(settlement.deliveryId)
      if (!found || !isLeased(found.row, settlement)) return inDoubt.find(settlement, found) ?? { live: false }
      const [settled] = await write(work, now, [settlement])
      return settled ?? { live: false }
    })
  }

  const batched = groupCommit<Settlement, Settled | undefined>({
    async run(asked) {
      try {
        return await settleKnown(asked)
      } catch (cause) {
        if (asked.length > 1 || !db.isOnesFault(cause)) throw cause
        return [undefined]
      }
    },
    keysOf: ({ deliveryId }) => [deliveryId],
    isOnesFault: db.isOnesFault,
    sizeOf: (settlement) => (settlement.to === 'queued' && settlement.content ? jsonSize(settlement.content) : 0),
    timeoutMs: db.timeoutMs,
  })

  return async (settlement) => {
    const settled = (await batched(settlement)) ?? (await settleWhole(settlement))
    leases.forget(settlement)
    inDoubt.forget(settlement)
    return settled
  }
}

function isLeased({ status, fence }: DeliveryRow, lease: LeaseToken): boolean {
  return status === 'sending' && fence === fenceOf(lease)
}

/** Renews leases by the database's clock. */
export function renewals(db: Database, leases: LeaseCache, marks: LowWaterMarks): DispatchStore['renew'] {
  const { dialect, nameOf, change } = db
  const [until, id, mark] = [1, 2, 3].map(dialect.parameter)
  const text = `update ${nameOf('deliveries')} set wake_at = ${NOW} + ${until}, version = version + 1
    where delivery_id = ${id} and fence = ${mark} and status = 'sending'`

  return async (lease, leaseMs) => {
    const earliest = db.now() + leaseMs
    const changed = await retryOnConflict(() => change(text, [leaseMs, lease.deliveryId, fenceOf(lease)]))
    if (changed === 0) return false
    marks.renewed(earliest, db.now())
    const leased = leases.find(lease)
    if (leased) leases.keep({ ...leased, delivery: { ...leased.delivery, version: leased.delivery.version + 1 } })
    return true
  }
}

/** A delivery that this process leased, as stored. */
export interface Leased {
  readonly dispatch: DispatchRecord
  readonly delivery: DeliveryRecord
}

/** Lease cache: the latest leases of this process, which are settled without a read. */
export interface LeaseCache {
  keep(leased: Leased): void
  find(lease: LeaseToken): Leased | undefined
  forget(lease: LeaseToken): void
}

/** Size of both caches. A lease that was dropped is read when it is settled. */
const MAX_KEPT = 10_000

export function leaseCache(): LeaseCache {
  const kept = boundedMap<Leased>(MAX_KEPT)

  function find({ deliveryId, fence }: LeaseToken): Leased | undefined {
    const leased = kept.get(deliveryId)
    return leased && tokenFor(deliveryId, leased.delivery.fence ?? '') === fence ? leased : undefined
  }

  return {
    keep: (leased) => kept.put(leased.delivery.delivery_id, leased),
    find,
    forget(lease) {
      if (find(lease)) kept.delete(lease.deliveryId)
    },
  }
}

/** Fencing token of one delivery. A claim stores one fence for all its deliveries; each worker gets its own token. */
export function tokenFor(deliveryId: string, fence: string): string {
  return `${fence}:${deliveryId}`
}

/** The stored fence of a token; empty, which matches no fence, if the token belongs to another delivery. */
function fenceOf({ deliveryId, fence }: LeaseToken): string {
  const end = `:${deliveryId}`
  return fence.endsWith(end) ? fence.slice(0, -end.length) : ''
}

interface InDoubt {
  readonly fence: string
  readonly to: Settlement['to']
  readonly version: number
  readonly status: DeliveryRow['status']
  readonly attempts: number
  readonly settled: Settled
}

/** In-doubt settlements: this process does not know whether they were written. A repeated settlement gets the first result. */
interface InDoubtSettlements {
  /** @param made The delivery as it was read, and after the settlement. */
  keep(settlement: Settlement, made: KnownDelivery, settled: Settled): void
  /** The result, if the delivery is exactly in the state after the settlement. */
  find(settlement: Settlement, found: KnownDelivery | undefined): Settled | undefined
  forget(lease: LeaseToken): void
}

function inDoubtSettlements(): InDoubtSettlements {
  const kept = boundedMap<InDoubt>(MAX_KEPT)
  return {
    keep({ deliveryId, fence, to }, { row: { status, attempts }, record }, settled) {
      kept.put(deliveryId, { fence, to, version: record.version + 1, status, attempts, settled })
    },
    find({ deliveryId, fence, to, attempt }, found) {
      const made = kept.get(deliveryId)
      if (!found || made?.fence !== fence || made.to !== to) return undefined
      const { row, record } = found
      // Only the holder of the lease writes this version.
      const isSame = record.version === made.version && row.status === made.status && row.attempts === made.attempts
      return isSame && (!attempt || endedSo(row, attempt)) ? made.settled : undefined
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
