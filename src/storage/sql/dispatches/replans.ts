import type { DispatchStore } from '../../../ports/dispatch-store.ts'
import { readReplannable, replanDispatch } from '../../rules/dispatch-changes.ts'
import { readDispatch } from '../../rules/dispatch-rows.ts'
import type { Database } from '../connection/database.ts'
import { retryOnConflict } from '../connection/retry-on-conflict.ts'
import { dispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { loadDispatches, loadToShow } from './load-dispatches.ts'
import { loadForAdmission } from './load-for-admission.ts'
import { loadPlans } from './load-plans.ts'
import { saveWork } from './save-work.ts'

/** Plans dispatches again of which something failed in host code. What they are planned from is read by nothing else. */
export function replans(db: Database): Pick<DispatchStore, 'findReplannable' | 'replan'> {
  return {
    async findReplannable(tenant, dispatchId) {
      await db.sync()
      const now = db.now()
      const work = dispatchUnitOfWork(now)
      await loadToShow([dispatchId], db, work)
      const row = work.dispatch(dispatchId)
      if (row?.head.tenant !== tenant) return undefined
      await loadPlans([dispatchId], db, work)
      return readReplannable(row, now)
    },

    replan: (tenant, dispatchId, version, deliveries, options) =>
      retryOnConflict(async () => {
        await db.sync()
        const now = db.now()
        const work = dispatchUnitOfWork(now, db.uncertaintyMs())
        await loadDispatches([dispatchId], 'heads', db, work)
        const row = work.dispatch(dispatchId)
        if (row?.head.tenant !== tenant) return undefined
        await loadPlans([dispatchId], db, work)
        await loadForAdmission([{ dispatch: { ...row.head, deliveries } }], db, work)
        const changed = replanDispatch(row, { ...options, version, deliveries }, now, work.places, work.moves)
        if (!changed) return { outcome: 'conflict' }
        await saveWork(work, db)
        return { outcome: 'replanned', changed, dispatch: readDispatch(row) }
      }),
  }
}
