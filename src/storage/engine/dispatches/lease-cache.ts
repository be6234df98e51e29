import type { LeaseToken } from '../../../ports/dispatch-store.ts'
import { boundedMap } from '../bounded-map.ts'
import type { KnownState } from './delivery-states.ts'
import type { DispatchRecord, JobRecord } from './dispatch-records.ts'
import { isShared } from './stored-deliveries.ts'

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
  /** A renewal has given the job this version. */
  renewed(lease: LeaseToken, version: number): void
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
    renewed(lease, version) {
      const leased = find(lease)
      if (leased) kept.put(lease.deliveryId, { ...leased, job: { ...leased.job, version } })
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
export function fenceOf({ deliveryId, fence }: LeaseToken): string {
  const end = `:${deliveryId}`
  return fence.endsWith(end) ? fence.slice(0, -end.length) : ''
}
