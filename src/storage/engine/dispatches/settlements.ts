import type { DispatchStore, LeaseToken, Settled, Settlement } from '../../../ports/dispatch-store.ts'
import { settleDelivery } from '../../rules/delivery-transitions.ts'
import type { DeliveryRow } from '../../rules/dispatch-rows.ts'
import { Changes, Conflict, isOnesFault, retryOnConflict } from '../changes.ts'
import { groupCommit, jsonSize } from '../group-commit.ts'
import type { Records, TimeBounds } from '../records.ts'
import type { JobRecord } from './dispatch-records.ts'
import { inDoubtSettlements } from './in-doubt-settlements.ts'
import { fenceOf, type LeaseCache } from './lease-cache.ts'
import { loadDispatches, loadOwners } from './load-dispatches.ts'
import { DispatchUnitOfWork } from './unit-of-work.ts'

/**
 * Settles leases, in a group commit. A delivery that this process leased is settled without a read: the state of its dispatch is cached.
 * Such settlements of one dispatch share a batch, and are never in flight at the same time.
 */
export function settlements(records: Records, leases: LeaseCache): DispatchStore['settle'] {
  const inDoubt = inDoubtSettlements()
  const isOnes = isOnesFault(records)

  async function write(
    work: DispatchUnitOfWork,
    { earliest, latest }: TimeBounds,
    asked: readonly Settlement[],
  ): Promise<readonly (Settled | undefined)[]> {
    const made: (() => void)[] = []
    const settled = asked.map((settlement) => {
      const row = work.delivery(settlement.deliveryId)
      if (!row || !isLeased(row, settlement)) return undefined
      const one = settleDelivery(row, settlement, earliest, work.moves, latest)
      made.push(() => inDoubt.keep(settlement, row, work.jobVersion(settlement.deliveryId), one))
      return one
    })
    try {
      await work.write(records)
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
    const now = await records.now()
    const work = new DispatchUnitOfWork(now.earliest, now.latest - now.earliest)
    const known = asked.flatMap((settlement) => leases.find(settlement) ?? [])
    work.put({
      dispatches: known.map(({ dispatch }) => dispatch),
      states: known.map(({ of }) => of.state),
      jobs: known.map(({ job }) => job),
    })
    return write(work, now, asked)
  }

  /** Settles a delivery together with the changes that follow from it. */
  function settleWhole(settlement: Settlement): Promise<Settled> {
    return retryOnConflict(async () => {
      const now = await records.now()
      const work = new DispatchUnitOfWork(now.earliest, now.latest - now.earliest)
      await loadDispatches(await loadOwners([settlement.deliveryId], records), records, work)
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
        if (asked.length > 1 || !isOnes(cause)) throw cause
        return [undefined]
      }
    },
    keysOf: (settlement) => [leases.find(settlement)?.job.dispatch_id ?? settlement.deliveryId],
    isOnesFault: isOnes,
    sizeOf: (settlement) => (settlement.to === 'queued' && settlement.content ? jsonSize(settlement.content) : 0),
    timeoutMs: records.timeoutMs,
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

/** Renews leases. The job of a lease of this process is cached; after a conflict it is read. */
export function renewals(records: Records, leases: LeaseCache): DispatchStore['renew'] {
  async function readJob({ deliveryId }: LeaseToken): Promise<JobRecord | undefined> {
    const { jobs = [] } = await records.read([{ kind: 'jobs', with: [[deliveryId]] }])
    return jobs[0]
  }

  return (lease, leaseMs) => {
    let tries = 0
    return retryOnConflict(async () => {
      tries += 1
      const known = tries === 1 ? leases.find(lease)?.job : undefined
      const job = known ?? (await readJob(lease))
      if (!job || job.fence !== fenceOf(lease)) return false
      const changes = new Changes()
      const { latest } = await records.now()
      changes.update('jobs', { ...job, wake_at: latest + Math.ceil(leaseMs) })
      await changes.commit(records)
      leases.renewed(lease, job.version + 1)
      return true
    })
  }
}
