import type { AttemptEnd } from '../../../model/attempt.ts'
import type { DispatchStore, LeaseToken, Settled, Settlement } from '../../../ports/dispatch-store.ts'
import { boundedMap } from '../../engine/bounded-map.ts'
import { isShared } from '../../engine/dispatches/stored-deliveries.ts'
import { settleDelivery } from '../../rules/delivery-transitions.ts'
import type { DeliveryRow } from '../../rules/dispatch-rows.ts'
import { Conflict, NOW, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { groupCommit, jsonSize } from '../connection/group-commit.ts'
import type { DispatchRecord, JobRecord } from '../schema/records.ts'
import type { KnownState } from './delivery-states.ts'
import { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { loadDispatches, loadOwners } from './load-dispatches.ts'

/**
 * Settles leases, in a group commit. A delivery that this process leased is settled without a read: the state of its dispatch is cached.
 * Such settlements of one dispatch share a batch, and are never in flight at the same time.
 */
export function settlements(db: Database, leases: LeaseCache): DispatchStore['settle'] {
  const inDoubt = inDoubtSettlements()

  async function write(
    work: DispatchUnitOfWork,
    now: number,
    asked: readonly Settlement[],
  ): Promise<readonly (Settled | undefined)[]> {
    const latest = now + db.uncertaintyMs()
    const made: (() => void)[] = []
    const settled = asked.map((settlement) => {
      const row = work.delivery(settlement.deliveryId)
      if (!row || !isLeased(row, settlement)) return undefined
      const one = settleDelivery(row, settlement, now, work.moves, latest)
      made.push(() => inDoubt.keep(settlement, row, work.jobVersion(settlement.deliveryId), one))
      return one
    })
    try {
      await work.write(db)
    } catch (cause) {
      // The write may complete although it failed or timed out here.
      if (!(cause instanceof Conflict)) for (const keep of made) keep()
      throw cause
    }
    leases.learn(work.written)
    return settled
  }

  /** `undefined`: the delivery must be read first. */
  async function settleKnown(asked: readonly Settlement[]): Promise<readonly (Settled | undefined)[]> {
    await db.sync()
    const now = db.now()
    const work = new DispatchUnitOfWork(now, db.uncertaintyMs())
    const known = asked.flatMap((settlement) => leases.find(settlement) ?? [])
    work.put({
      heads: known.map(({ dispatch }) => dispatch),
      states: known.map(({ of }) => of.state),
      jobs: known.map(({ job }) => job),
    })
    return write(work, now, asked)
  }

  /** Settles a delivery together with the changes that follow from it. */
  function settleWhole(settlement: Settlement): Promise<Settled> {
    return retryOnConflict(async () => {
      await db.sync()
      const now = db.now()
      const work = new DispatchUnitOfWork(now, db.uncertaintyMs())
      await loadDispatches(await loadOwners([settlement.deliveryId], db), db, work)
      const row = work.delivery(settlement.deliveryId)
      if (!row || !isLeased(row, settlement))
        return inDoubt.find(settlement, row, work.jobVersion(settlement.deliveryId)) ?? { live: false }
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
    keysOf: (settlement) => [leases.find(settlement)?.job.dispatch_id ?? settlement.deliveryId],
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
export function renewals(db: Database, leases: LeaseCache): DispatchStore['renew'] {
  const { dialect, nameOf, change } = db
  const [until, id, mark] = [1, 2, 3].map(dialect.parameter)
  const text = `update ${nameOf('jobs')} set wake_at = ${NOW} + ${until}, version = version + 1
    where delivery_id = ${id} and fence = ${mark}`

  return async (lease, leaseMs) => {
    const changed = await retryOnConflict(() => change(text, [leaseMs, lease.deliveryId, fenceOf(lease)]))
    if (changed === 0) return false
    leases.renewed(lease)
    return true
  }
}

/** A delivery that this process leased, as stored. */
export interface Leased {
  readonly dispatch: DispatchRecord
  readonly job: JobRecord
  /** The state of the dispatch, which its leases share, and their number. */
  readonly of: { state: KnownState; leases: number }
}

/** Lease cache: the latest leases of this process, which are settled without a read. */
export interface LeaseCache {
  keep(dispatch: DispatchRecord, state: KnownState, job: JobRecord): void
  /** A renewal has incremented the version of the job. */
  renewed(lease: LeaseToken): void
  /** Undefined also for a delivery whose settlement needs more than the cache has. */
  find(lease: LeaseToken): Leased | undefined
  /** States as they are stored now. */
  learn(states: readonly KnownState[]): void
  forget(lease: LeaseToken): void
}

/** Size of both caches. A lease that was dropped is read when it is settled. */
const MAX_KEPT = 10_000

export function leaseCache(): LeaseCache {
  const kept = boundedMap<Leased>(MAX_KEPT)
  const states = boundedMap<Leased['of']>(MAX_KEPT)

  function find({ deliveryId, fence }: LeaseToken): Leased | undefined {
    const leased = kept.get(deliveryId)
    return leased && tokenFor(deliveryId, leased.job.fence ?? '') === fence ? leased : undefined
  }

  function learn(state: KnownState): void {
    const of = states.get(state.record.dispatch_id)
    if (of && of.state.record.version <= state.record.version) of.state = state
  }

  function drop({ job: { delivery_id, dispatch_id }, of }: Leased): void {
    kept.delete(delivery_id)
    of.leases -= 1
    if (of.leases === 0 && states.get(dispatch_id) === of) states.delete(dispatch_id)
  }

  return {
    keep(dispatch, state, job) {
      if (!isSettledAlone(state)) return
      const before = kept.get(job.delivery_id)
      if (before) drop(before)
      learn(state)
      const of = states.get(job.dispatch_id) ?? { state, leases: 0 }
      of.leases += 1
      states.put(job.dispatch_id, of)
      kept.put(job.delivery_id, { dispatch, job, of })
    },
    renewed(lease) {
      const leased = find(lease)
      if (leased) kept.put(lease.deliveryId, { ...leased, job: { ...leased.job, version: leased.job.version + 1 } })
    },
    find,
    learn(list) {
      for (const state of list) learn(state)
    },
    forget(lease) {
      const leased = find(lease)
      if (leased) drop(leased)
    },
  }
}

/** Whether a settlement needs no other rows: no digest, and no limits that a promotion would count. */
function isSettledAlone({ entries }: KnownState): boolean {
  return entries.every((entry) => !isShared(entry) && entry.limits === undefined)
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

interface InDoubt extends Pick<DeliveryRow, 'status' | 'attempts'> {
  readonly fence: string
  readonly to: Settlement['to']
  /** Version of the job, if it is still there. */
  readonly version: number
  readonly settled: Settled
}

/** In-doubt settlements: this process does not know whether they were written. A repeated settlement gets the first result. */
interface InDoubtSettlements {
  /**
   * @param row The delivery after the settlement.
   * @param version Version of the job before it.
   */
  keep(settlement: Settlement, row: DeliveryRow, version: number | undefined, settled: Settled): void
  /** The result, if the delivery is exactly in the state after the settlement. */
  find(settlement: Settlement, row: DeliveryRow | undefined, version: number | undefined): Settled | undefined
  forget(lease: LeaseToken): void
}

function inDoubtSettlements(): InDoubtSettlements {
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
