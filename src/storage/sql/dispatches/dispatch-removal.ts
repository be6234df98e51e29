import type { DispatchRemoval } from '../../../ports/dispatch-removal.ts'
import { isOpenDispatch, leaveDigests } from '../../rules/dispatch-changes.ts'
import { boundedMap } from '../connection/bounded-map.ts'
import { Conflict, NOW, newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { type NameTable, tableAlong } from '../connection/dialects.ts'
import { contains } from '../connection/stored-texts.ts'
import { removeUnnamed } from './damaged-parts.ts'
import { DispatchUnitOfWork } from './dispatch-unit-of-work.ts'
import { loadDispatches, loadPlans } from './load-dispatches.ts'

/** Old dispatches of one tenant. */
interface Found {
  readonly tenant: string
  readonly ids: readonly string[]
  /** Where the next part of the tenant begins; absent: none is left. */
  readonly until?: number
}

interface FoundOfAll {
  readonly found: readonly Found[]
  /** The tenant after which the next part begins; empty: none is left. */
  readonly reached: string
}

type Aged = Pick<DispatchRemoval, 'acceptedForMs' | 'limit'>

const MAX_MARKS = 1_000
/** Sorts after the name of every tenant. */
const LAST = '\u{10ffff}'

/**
 * Removes a part of the old dispatches: of a tenant, or of one tenant after another. The next part begins where this one has ended, because
 * it would otherwise read the dead index entries of removed rows again.
 */
export function dispatchRemover(db: Database): (removal: DispatchRemoval) => Promise<number> {
  const marks = boundedMap<number>(MAX_MARKS)
  let reached = ''
  const nextTenants = tenantFinder(db)

  async function findOf(tenant: string, { acceptedForMs, limit }: Aged): Promise<Found> {
    const since = marks.get(tenant) ?? 0
    const find = (from: number, before: number, most: number): Promise<readonly Over[]> =>
      most > 0 ? findOver({ tenant, from, before, acceptedForMs, limit: most }, db) : Promise.resolve([])
    const later = await find(since, Number.MAX_SAFE_INTEGER, limit)
    // Those that were skipped, because a delivery was open.
    const earlier = await find(0, since, since > 0 ? limit - later.length : 0)
    const ids = [...later, ...earlier].map(({ dispatch_id }) => dispatch_id)
    if (ids.length < limit) return { tenant, ids }
    return { tenant, ids, until: Number((earlier.at(-1) ?? later.at(-1))?.created_at) }
  }

  async function findOfAll({ acceptedForMs, limit }: Aged): Promise<FoundOfAll> {
    const found: Found[] = []
    let left = limit
    for (const [low, high] of reached === ''
      ? [['', LAST] as const]
      : ([
          [reached, LAST],
          ['', reached],
        ] as const)) {
      let after = low
      for (let tenants = await nextTenants(after, high, acceptedForMs); tenants.length > 0; ) {
        for (const { tenant, isOver } of tenants) {
          const one = isOver ? await findOf(tenant, { acceptedForMs, limit: left }) : undefined
          if (one && one.ids.length > 0) found.push(one)
          left -= one?.ids.length ?? 0
          if (left === 0) return { found, reached: after }
          after = tenant
        }
        tenants = await nextTenants(after, high, acceptedForMs)
      }
    }
    return { found, reached: '' }
  }

  return ({ tenant, ...aged }) =>
    retryOnConflict(async () => {
      const own = tenant === undefined ? undefined : { found: [await findOf(tenant, aged)], reached }
      const part = own ?? (await findOfAll(aged))
      const ids = part.found.flatMap((one) => one.ids)
      await removeThese(ids, db)
      reached = part.reached
      for (const { tenant: name, until } of part.found) {
        if (until === undefined) marks.delete(name)
        else marks.put(name, until)
      }
      return ids.length
    })
}

async function removeThese(ids: readonly string[], db: Database): Promise<void> {
  if (ids.length === 0) return
  await db.sync()
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
}

function byTime(dialect: Database['dialect'], nameOf: NameTable): string {
  return tableAlong({ table: 'dispatches', alias: 'd', index: 'by_time' }, dialect, nameOf)
}

interface Over {
  readonly dispatch_id: string
  readonly created_at: unknown
}

interface OverRange extends Aged {
  readonly tenant: string
  readonly from: number
  readonly before: number
}

function findOver({ tenant, from, before, acceptedForMs, limit }: OverRange, db: Database): Promise<readonly Over[]> {
  const { dialect, nameOf } = db
  const states = tableAlong({ table: 'states', alias: 's' }, dialect, nameOf)
  const outcomes = `(select s.outcomes from ${states} where s.dispatch_id = d.dispatch_id)`
  const [name, since, until, forMs] = [1, 2, 3, 4].map(dialect.parameter)
  const text = `select d.dispatch_id, d.created_at from ${byTime(dialect, nameOf)}
    where d.tenant = ${name} and d.created_at >= ${since} and d.created_at < ${until} and d.created_at < ${NOW} - ${forMs}
    and not (${contains(outcomes, "' open\n'", dialect)})
    order by d.created_at limit ${Math.trunc(limit)}`
  return db.scan<Over>(text, [tenant, from, before, Math.floor(acceptedForMs)])
}

interface Tenant {
  readonly tenant: string
  /** Whether its oldest dispatch is old enough. */
  readonly isOver: boolean
}

const TENANTS_AT_ONCE = 100

/** Finds the tenants with dispatches whose names follow one another, without reading the dispatches of each. */
function tenantFinder({
  dialect,
  nameOf,
  scan,
}: Database): (after: string, high: string, forMs: number) => Promise<readonly Tenant[]> {
  const dispatches = byTime(dialect, nameOf)
  const [low, to, further, forMs] = [1, 2, 3, 4].map(dialect.parameter)
  // MySQL finds a range of an index only by constants: it would read all tenants for each step.
  const atOnce = dialect.updatesFrom ? TENANTS_AT_ONCE : 1
  const text = `with recursive t (tenant, number) as (
      select min(d.tenant), 1 from ${dispatches} where d.tenant > ${low} and d.tenant <= ${to}
      union all
      select (select min(d.tenant) from ${dispatches} where d.tenant > t.tenant and d.tenant <= ${further}), t.number + 1
      from t where t.tenant is not null and t.number < ${atOnce}
    )
    select t.tenant, (select min(d.created_at) from ${dispatches} where d.tenant = t.tenant) as oldest, ${NOW} - ${forMs} as until
    from t where t.tenant is not null order by t.number`
  return async (after, high, acceptedForMs) => {
    const rows = await scan<Readonly<Record<string, unknown>>>(text, [after, high, high, Math.floor(acceptedForMs)])
    return rows.map(({ tenant, oldest, until }) => ({
      tenant: String(tenant),
      isOver: Number(oldest) < Number(until),
    }))
  }
}
