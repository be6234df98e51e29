import type { DispatchRemoval } from '../../../ports/dispatch-removal.ts'
import { isOpenDispatch, leaveDigests } from '../../rules/dispatch-changes.ts'
import { Conflict, NOW, newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { tableAlong } from '../connection/dialects.ts'
import { type RemovedPart, removalParts } from '../connection/removal-parts.ts'
import { contains } from '../connection/stored-texts.ts'
import { removeUnnamed } from './damaged-parts.ts'
import { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { loadDispatches, loadPlans } from './load-dispatches.ts'

export function dispatchRemover(db: Database): (query: DispatchRemoval) => Promise<number> {
  const removeSome = removalParts()
  return ({ tenant, acceptedForMs, limit }) =>
    removeSome(tenant ?? '', limit, (from, most) => removeOver({ tenant, acceptedForMs, limit: most }, from, db))
}

function removeOver(query: DispatchRemoval, from: number, db: Database): Promise<RemovedPart> {
  return retryOnConflict(async () => {
    await db.sync()
    const over = await findOver(query, from, db)
    const ids = over.map(({ dispatch_id }) => dispatch_id)
    const work = new DispatchUnitOfWork(db.now())
    await loadDispatches(ids, db, work)
    await loadPlans(ids, db, work)
    for (const id of ids) {
      const row = work.dispatch(id)
      if (!row || isOpenDispatch(row)) throw new Conflict('a dispatch has changed since it was found')
      leaveDigests(row)
      work.remove(row)
    }
    const changes = newChanges()
    await removeUnnamed(work, changes, db)
    await work.write(db, changes)
    return { count: over.length, until: Number(over.at(-1)?.created_at ?? 0) }
  })
}

interface Over {
  readonly dispatch_id: string
  readonly created_at: unknown
}

function findOver(
  { tenant, acceptedForMs, limit }: DispatchRemoval,
  from: number,
  db: Database,
): Promise<readonly Over[]> {
  const { dialect, nameOf } = db
  const states = tableAlong({ table: 'states', alias: 's' }, dialect, nameOf)
  const outcomes = `(select s.outcomes from ${states} where s.dispatch_id = d.dispatch_id)`
  const dispatches = tableAlong({ table: 'dispatches', alias: 'd', index: 'by_age' }, dialect, nameOf)
  const ofTenant = tenant === undefined ? '' : `and d.tenant = ${dialect.parameter(3)}`
  const text = `select d.dispatch_id, d.created_at from ${dispatches}
    where d.created_at >= ${dialect.parameter(1)} and d.created_at < ${NOW} - ${dialect.parameter(2)} ${ofTenant}
    and not (${contains(outcomes, "' open\n'", dialect)})
    order by d.created_at limit ${Math.trunc(limit)}`
  const parameters = [from, Math.floor(acceptedForMs)]
  return db.scan<Over>(text, tenant === undefined ? parameters : [...parameters, tenant])
}
