import type { DispatchChange, DispatchStore, ReplanOutcome } from '../../../ports/dispatch-store.ts'
import {
  cancelDispatch,
  fallBackDispatch,
  readReplannable,
  replanDispatch,
  requeueDispatch,
} from '../../rules/dispatch-changes.ts'
import type { DispatchRow } from '../../rules/dispatch-rows.ts'
import { readDispatch } from '../../rules/dispatch-rows.ts'
import { readDispatchData } from '../../rules/erasure-rules.ts'
import { retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { acceptor } from './accept.ts'
import { loadForAdmission } from './admission.ts'
import { claims } from './claims.ts'
import { countDue } from './count-due.ts'
import { dispatchEraser } from './dispatch-erasure.ts'
import { dispatchRemover } from './dispatch-removal.ts'
import { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { expiredForgetter } from './expiry.ts'
import { listDispatches } from './list-dispatches.ts'
import { loadOwnEvents } from './load-digests.ts'
import { loadDispatches, loadOwner, loadPlans, loadToShow } from './load-dispatches.ts'
import { lowWaterMarks } from './low-water-marks.ts'
import { leaseCache, renewals, settlements } from './settlements.ts'

export interface SqlDispatchesOptions {
  /** A new fencing token for every claim of every process. */
  readonly newFence: () => string
  /** The store is in the host's transaction: no group commit, no caches. */
  readonly isAlone: boolean
}

export function sqlDispatches(db: Database, { newFence, isAlone }: SqlDispatchesOptions): DispatchStore {
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
      await db.sync()
      const now = db.now()
      const work = new DispatchUnitOfWork(now, db.uncertaintyMs())
      await loadDispatches([dispatchId], db, work, loadMore && (() => loadMore(work)))
      const row = work.dispatch(dispatchId)
      if (row?.head.tenant !== tenant) return undefined
      return apply(row, work, now)
    })
  }

  async function written(
    work: DispatchUnitOfWork,
    row: DispatchRow,
    changed: DispatchChange['changed'],
  ): Promise<DispatchChange> {
    await work.write(db)
    return { changed, dispatch: readDispatch(row) }
  }

  /** @param loadMore Reads what else the snapshot has of the dispatch. */
  async function find<T>(
    tenant: string,
    dispatchId: string,
    view: (row: DispatchRow, now: number) => T,
    loadMore?: (work: DispatchUnitOfWork) => Promise<void>,
  ): Promise<T | undefined> {
    await db.sync()
    const now = db.now()
    const row = (await loadToShow([dispatchId], db, loadMore)).dispatch(dispatchId)
    return row?.head.tenant === tenant ? view(row, now) : undefined
  }

  const leases = leaseCache()
  const marks = lowWaterMarks(db.elapsed, db.timeoutMs)
  const forgetExpired = expiredForgetter(db)
  const settle = settlements(db, leases)

  return {
    ...acceptor(db, isAlone),
    claim: claims(db, { leases, marks, settle, newFence }),
    renew: renewals(db, leases),
    settle,

    cancel: (tenant, dispatchId) =>
      change(tenant, dispatchId, (row, work) => written(work, row, cancelDispatch(row, work.moves))),

    retry: (tenant, dispatchId, options) =>
      change(tenant, dispatchId, (row, work, now) =>
        written(work, row, requeueDispatch(row, options, now, work.moves)),
      ),

    async fallBack(tenant, deliveryId) {
      const dispatchId = await loadOwner(deliveryId, db)
      if (dispatchId === undefined) return undefined
      return change(tenant, dispatchId, (row, work, now) =>
        written(work, row, fallBackDispatch(row, deliveryId, now, work.moves)),
      )
    },

    replan(tenant, dispatchId, version, deliveries, options) {
      const replanned = async (row: DispatchRow, work: DispatchUnitOfWork, now: number): Promise<ReplanOutcome> => {
        await loadForAdmission([{ dispatch: { ...row.head, deliveries } }], db, work)
        const changed = replanDispatch(row, { ...options, version, deliveries }, now, work.places, work.moves)
        return changed ? { outcome: 'replanned', ...(await written(work, row, changed)) } : { outcome: 'conflict' }
      }
      return change(tenant, dispatchId, replanned, (work) => loadPlans([dispatchId], db, work))
    },

    findReplannable: (tenant, dispatchId) =>
      find(tenant, dispatchId, readReplannable, (work) => loadPlans([dispatchId], db, work)),

    findDispatch: (tenant, dispatchId) => find(tenant, dispatchId, readDispatch),

    findDispatchData: (tenant, dispatchId) =>
      find(tenant, dispatchId, readDispatchData, async (work) => {
        await loadPlans([dispatchId], db, work)
        await loadOwnEvents(dispatchId, db, work)
      }),

    async findByDelivery(tenant, deliveryId) {
      const owner = await loadOwner(deliveryId, db)
      return owner === undefined ? undefined : find(tenant, owner, readDispatch)
    },

    async listDispatches(query) {
      await db.sync()
      return listDispatches(query, db)
    },

    countDue: (query) => countDue(query, db),

    ...dispatchEraser(db),
    removeDispatches: dispatchRemover(db),
    forgetExpired: (limit) => retryOnConflict(() => forgetExpired(limit)),
  }
}
