import type { DispatchChange, DispatchStore, ReplanOutcome } from '../../../ports/dispatch-store.ts'
import {
  cancelDispatch,
  fallBackDispatch,
  readReplannable,
  replanDispatch,
  requeueDispatch,
} from '../../rules/dispatch-changes.ts'
import { type DispatchRow, readDispatch } from '../../rules/dispatch-rows.ts'
import { readDispatchData } from '../../rules/erasure-rules.ts'
import { retryOnConflict } from '../changes.ts'
import type { Records } from '../records.ts'
import { acceptor } from './accept.ts'
import { loadForAdmission } from './admission.ts'
import { claims } from './claims.ts'
import { countDue } from './count-due.ts'
import { dispatchEraser } from './dispatch-erasure.ts'
import { dispatchRemover } from './dispatch-removal.ts'
import { expiredForgetter } from './expiry.ts'
import { leaseCache } from './lease-cache.ts'
import { listDispatches } from './list-dispatches.ts'
import { loadDispatches, loadOwnEvents, loadOwners, loadPlans, loadToShow } from './load-dispatches.ts'
import { renewals, settlements } from './settlements.ts'
import { DispatchUnitOfWork } from './unit-of-work.ts'

export interface EngineOptions {
  /** The records are in the host's transaction: no group commit, no caches. Default: false. */
  readonly isAlone?: boolean
}

export function engineDispatches(records: Records, { isAlone = false }: EngineOptions = {}): DispatchStore {
  /**
   * Reads a dispatch into a unit of work, which `apply` changes and writes. Retries after a conflict.
   * @param loadMore Reads what else the decision is about.
   */
  function change<T>(
    tenant: string,
    dispatchId: string,
    apply: (row: DispatchRow, work: DispatchUnitOfWork, now: number) => Promise<T>,
    loadMore?: (work: DispatchUnitOfWork) => Promise<void>,
  ): Promise<T | undefined> {
    return retryOnConflict(async () => {
      const { earliest: now, latest } = await records.now()
      const work = new DispatchUnitOfWork(now, latest - now)
      await loadDispatches([dispatchId], records, work, loadMore && (() => loadMore(work)))
      const row = work.dispatch(dispatchId)
      return row?.head.tenant === tenant ? apply(row, work, now) : undefined
    })
  }

  async function written(
    work: DispatchUnitOfWork,
    row: DispatchRow,
    changed: DispatchChange['changed'],
  ): Promise<DispatchChange> {
    await work.write(records)
    return { changed, dispatch: readDispatch(row) }
  }

  /** @param loadMore Reads what else the snapshot has of the dispatch. */
  async function find<T>(
    tenant: string,
    dispatchId: string,
    view: (row: DispatchRow, now: number) => T,
    loadMore?: (work: DispatchUnitOfWork) => Promise<void>,
  ): Promise<T | undefined> {
    const { earliest: now } = await records.now()
    const row = (await loadToShow([dispatchId], records, now, loadMore)).dispatch(dispatchId)
    return row?.head.tenant === tenant ? view(row, now) : undefined
  }

  const leases = leaseCache()
  const forgetExpired = expiredForgetter(records)
  const settle = settlements(records, leases)

  return {
    ...acceptor(records, isAlone),
    claim: claims(records, leases, settle),
    renew: renewals(records, leases),
    settle,

    cancel: (tenant, dispatchId) =>
      change(tenant, dispatchId, (row, work) => written(work, row, cancelDispatch(row, work.moves))),

    retry: (tenant, dispatchId, options) =>
      change(tenant, dispatchId, (row, work, now) =>
        written(work, row, requeueDispatch(row, options, now, work.moves)),
      ),

    async fallBack(tenant, deliveryId) {
      const [dispatchId] = await loadOwners([deliveryId], records)
      if (dispatchId === undefined) return undefined
      return change(tenant, dispatchId, (row, work, now) =>
        written(work, row, fallBackDispatch(row, deliveryId, now, work.moves)),
      )
    },

    replan(tenant, dispatchId, version, deliveries, options) {
      const replanned = async (row: DispatchRow, work: DispatchUnitOfWork, now: number): Promise<ReplanOutcome> => {
        await loadForAdmission([{ dispatch: { ...row.head, deliveries } }], records, work)
        const changed = replanDispatch(row, { ...options, version, deliveries }, now, work.places, work.moves)
        return changed ? { outcome: 'replanned', ...(await written(work, row, changed)) } : { outcome: 'conflict' }
      }
      return change(tenant, dispatchId, replanned, (work) => loadPlans([dispatchId], records, work))
    },

    findReplannable: (tenant, dispatchId) =>
      find(tenant, dispatchId, readReplannable, (work) => loadPlans([dispatchId], records, work)),

    findDispatch: (tenant, dispatchId) => find(tenant, dispatchId, readDispatch),

    findDispatchData: (tenant, dispatchId) =>
      find(tenant, dispatchId, readDispatchData, async (work) => {
        await loadPlans([dispatchId], records, work)
        await loadOwnEvents(dispatchId, records, work)
      }),

    async findByDelivery(tenant, deliveryId) {
      const [owner] = await loadOwners([deliveryId], records)
      return owner === undefined ? undefined : find(tenant, owner, readDispatch)
    },

    listDispatches: (query) => listDispatches(query, records),
    countDue: (query) => countDue(query, records),
    ...dispatchEraser(records),
    removeDispatches: dispatchRemover(records),
    forgetExpired: (limit) => retryOnConflict(() => forgetExpired(limit)),
  }
}
