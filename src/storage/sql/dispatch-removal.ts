import type { DispatchRemoval } from '../../ports/dispatch-removal.ts'
import { isOpenDispatch, leaveDigests } from '../deliveries/remove-dispatch.ts'
import { Conflict, type Database } from './database.ts'
import { loadDispatches } from './load-dispatches.ts'
import { loadPlans } from './load-plans.ts'
import { untilWritten } from './retries.ts'
import { saveWork } from './save-work.ts'
import { NOW } from './statements.ts'
import { workspace } from './workspace.ts'

/** Those that were accepted longest ago go first, of those of which nothing may yet be sent. */
export function removeDispatches(query: DispatchRemoval, db: Database): Promise<number> {
  return untilWritten(async () => {
    await db.sync()
    const ids = await findOver(query, db)
    const work = workspace(db.now())
    await loadDispatches(ids, 'heads', db, work)
    await loadPlans(ids, db, work)
    for (const id of ids) {
      const row = work.dispatch(id)
      if (!row || isOpenDispatch(row)) throw new Conflict('what was to go has changed')
      leaveDigests(row)
      work.remove(row)
    }
    await saveWork(work, db)
    return ids.length
  })
}

async function findOver({ tenant, acceptedForMs, limit }: DispatchRemoval, db: Database): Promise<readonly string[]> {
  const { dialect, nameOf } = db
  const open = `v.status in ('queued', 'sending', 'held')`
  const own = `select 1 from ${nameOf('deliveries')} v where v.dispatch_id = d.dispatch_id and ${open}`
  const shared = `select 1 from ${nameOf('digest_events')} e join ${nameOf('deliveries')} v on v.delivery_id = e.delivery_id where e.dispatch_id = d.dispatch_id and ${open}`
  const ofTenant = tenant === undefined ? '' : `and d.tenant = ${dialect.parameter(2)}`
  const text = `select d.dispatch_id from ${nameOf('dispatches')} d
    where d.created_at < ${NOW} - ${dialect.parameter(1)} ${ofTenant}
    and not exists (${own}) and not exists (${shared}) order by d.created_at limit ${Math.trunc(limit)}`
  const forMs = Math.floor(acceptedForMs)
  const parameters = tenant === undefined ? [forMs] : [forMs, tenant]
  const found = await db.query<{ dispatch_id: string }>(text, parameters)
  return found.map(({ dispatch_id }) => dispatch_id)
}
