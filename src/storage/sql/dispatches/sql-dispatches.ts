import type { DispatchChange, DispatchStore } from '../../../ports/dispatch-store.ts'
import type { Transitions } from '../../rules/delivery-transitions.ts'
import { cancelDispatch, requeueDispatch } from '../../rules/dispatch-changes.ts'
import { type DispatchRow, readDispatch } from '../../rules/dispatch-rows.ts'
import type { Database } from '../connection/database.ts'
import { retryOnConflict } from '../connection/retry-on-conflict.ts'
import { acceptor } from './accept.ts'
import { claims } from './claims.ts'
import { dispatchRemover } from './dispatch-removal.ts'
import { dispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { expiredForgetter } from './forget-expired.ts'
import { leaseCache } from './lease-cache.ts'
import { listDispatches } from './list-dispatches.ts'
import { loadDispatches, loadToShow } from './load-dispatches.ts'
import { lowWaterMarks } from './low-water-marks.ts'
import { renewals } from './renewals.ts'
import { replans } from './replans.ts'
import { saveWork } from './save-work.ts'
import { settlements } from './settlements.ts'

/** How the dispatch half of an SQL store is made. */
export interface SqlDispatchesOptions {
  /** New for every claim of every process. */
  readonly newFence: () => string
  /** It is within a transaction of the host's: nothing is joined with what others ask. */
  readonly isAlone: boolean
}

/** The dispatch half of an SQL store. */
export function sqlDispatches(db: Database, { newFence, isAlone }: SqlDispatchesOptions): DispatchStore {
  /** @param change Gives which deliveries it changed. */
  function changeDispatch(
    tenant: string,
    dispatchId: string,
    change: (row: DispatchRow, now: number, moves: Transitions) => DispatchChange['changed'],
  ): Promise<DispatchChange | undefined> {
    return retryOnConflict(async () => {
      await db.sync()
      const now = db.now()
      const work = dispatchUnitOfWork(now, db.uncertaintyMs())
      await loadDispatches([dispatchId], 'heads', db, work)
      const row = work.dispatch(dispatchId)
      if (row?.head.tenant !== tenant) return undefined
      const changed = change(row, now, work.moves)
      await saveWork(work, db)
      return { changed, dispatch: readDispatch(row) }
    })
  }

  const memory = leaseCache()
  const marks = lowWaterMarks(db.elapsed, db.timeoutMs)
  const forgetExpired = expiredForgetter(db)
  const settle = settlements(db, memory)

  return {
    ...acceptor(db, isAlone),
    ...replans(db),
    claim: claims(db, { memory, marks, settle, newFence }),
    renew: renewals(db, memory, marks),
    settle,

    cancel: (tenant, dispatchId) =>
      changeDispatch(tenant, dispatchId, (row, _now, moves) => cancelDispatch(row, moves)),

    retry: (tenant, dispatchId, options) =>
      changeDispatch(tenant, dispatchId, (row, now, moves) => requeueDispatch(row, options, now, moves)),

    async findDispatch(tenant, dispatchId) {
      await db.sync()
      const work = dispatchUnitOfWork(db.now())
      await loadToShow([dispatchId], db, work)
      const row = work.dispatch(dispatchId)
      return row?.head.tenant === tenant ? readDispatch(row) : undefined
    },

    async listDispatches(query) {
      await db.sync()
      return listDispatches(query, db)
    },

    removeDispatches: dispatchRemover(db),
    forgetExpired: (limit) => retryOnConflict(() => forgetExpired(limit)),
  }
}
