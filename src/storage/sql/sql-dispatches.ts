import type { DispatchStore } from '../../ports/dispatch-store.ts'
import { cancelDispatch, retryDispatch } from '../deliveries/change-dispatch.ts'
import { readDispatch } from '../deliveries/delivery-copies.ts'
import type { DispatchRow } from '../deliveries/dispatch-rows.ts'
import { isOpenDispatch, leaveDigests } from '../deliveries/remove-dispatch.ts'
import { acceptor } from './accept.ts'
import { claims } from './claims.ts'
import { Conflict, type Database } from './database.ts'
import { leaseMemory } from './lease-memory.ts'
import { listDispatches } from './list-dispatches.ts'
import { loadDispatches } from './load-dispatches.ts'
import { renewals } from './renewals.ts'
import { untilWritten } from './retries.ts'
import { settlements } from './settlements.ts'
import { NOW } from './statements.ts'
import { saveWork, type Workspace, workspace } from './workspace.ts'

/** How the dispatch half of an SQL store is made. */
export interface SqlDispatchesOptions {
  /** New for every claim of every process. */
  readonly newFence: () => string
  /** It is within a transaction of the host's: nothing is joined with what others ask. */
  readonly isAlone: boolean
}

/** The dispatch half of an SQL store. */
export function sqlDispatches(db: Database, { newFence, isAlone }: SqlDispatchesOptions): DispatchStore {
  async function find(
    tenant: string,
    dispatchId: string,
  ): Promise<{ readonly row: DispatchRow; readonly work: Workspace } | undefined> {
    await db.sync()
    const work = workspace(db.now())
    await loadDispatches([dispatchId], 'heads', db, work)
    const row = work.dispatch(dispatchId)
    return row?.head.tenant === tenant ? { row, work } : undefined
  }

  const memory = leaseMemory()
  const settle = settlements(db, memory)

  return {
    ...acceptor(db, isAlone),
    claim: claims(db, memory, settle, newFence),
    renew: renewals(db, memory),
    settle,

    cancel: (tenant, dispatchId) =>
      untilWritten(async () => {
        const found = await find(tenant, dispatchId)
        if (!found) return undefined
        const changed = cancelDispatch(found.row, found.work.moves)
        await saveWork(found.work, db)
        return { changed, dispatch: readDispatch(found.row) }
      }),

    retry: (tenant, dispatchId, options) =>
      untilWritten(async () => {
        const found = await find(tenant, dispatchId)
        if (!found) return undefined
        const changed = retryDispatch(found.row, options, db.now(), found.work.moves)
        await saveWork(found.work, db)
        return { changed, dispatch: readDispatch(found.row) }
      }),

    async findDispatch(tenant, dispatchId) {
      const found = await find(tenant, dispatchId)
      return found && readDispatch(found.row)
    },

    async listDispatches(query) {
      await db.sync()
      return listDispatches(query, db)
    },

    removeDispatches: ({ tenant, acceptedForMs, limit }) =>
      untilWritten(async () => {
        await db.sync()
        const { dialect, nameOf } = db
        const open = `v.status in ('queued', 'sending', 'held')`
        const own = `select 1 from ${nameOf('deliveries')} v where v.dispatch_id = d.dispatch_id and ${open}`
        const shared = `select 1 from ${nameOf('digest_events')} e join ${nameOf('deliveries')} v on v.delivery_id = e.delivery_id where e.dispatch_id = d.dispatch_id and ${open}`
        const ofTenant = tenant === undefined ? '' : `and d.tenant = ${dialect.parameter(2)}`
        const text = `select d.dispatch_id from ${nameOf('dispatches')} d
          where d.accepted_at < ${NOW} - ${dialect.parameter(1)} ${ofTenant}
          and not exists (${own}) and not exists (${shared}) order by d.accepted_at limit ${Math.trunc(limit)}`
        const forMs = Math.floor(acceptedForMs)
        const parameters = tenant === undefined ? [forMs] : [forMs, tenant]
        const found = await db.query<{ dispatch_id: string }>(text, parameters)
        const ids = found.map(({ dispatch_id }) => dispatch_id)
        const work = workspace(db.now())
        await loadDispatches(ids, 'heads', db, work)
        let removed = 0
        for (const id of ids) {
          const row = work.dispatch(id)
          if (!row || isOpenDispatch(row)) throw new Conflict('what was to go has changed')
          leaveDigests(row)
          work.remove(row)
          removed++
        }
        await saveWork(work, db)
        return removed
      }),
  }
}
