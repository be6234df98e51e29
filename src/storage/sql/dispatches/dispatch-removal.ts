import type { DispatchRemoval } from '../../../ports/dispatch-removal.ts'
import { boundedMap } from '../../engine/bounded-map.ts'
import { isOpenDispatch, leaveDigests } from '../../rules/dispatch-changes.ts'
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

interface Part {
  readonly found: readonly Found[]
  /** The tenant in which the part has ended. Absent: none is left. */
  readonly reached?: string
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
  const nextTenant = tenantFinder(db)
  let reached: string | undefined

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

  /** Tenants with old dispatches, from one on and around. */
  async function* tenantsFrom(start: string | undefined, acceptedForMs: number): AsyncGenerator<string> {
    if (start !== undefined) yield start
    const ranges: readonly (readonly [low: string, high: string])[] = [
      [start ?? '', LAST],
      ...(start === undefined ? [] : [['', start] as const]),
    ]
    for (const [low, high] of ranges) {
      let next = await nextTenant(low, high, acceptedForMs)
      while (next) {
        if (next.isOver) yield next.tenant
        next = await nextTenant(next.tenant, high, acceptedForMs)
      }
    }
  }

  async function findOfAll({ acceptedForMs, limit }: Aged): Promise<Part> {
    const found: Found[] = []
    let left = limit
    for await (const tenant of tenantsFrom(reached, acceptedForMs)) {
      const one = await findOf(tenant, { acceptedForMs, limit: left })
      found.push(one)
      left -= one.ids.length
      if (left <= 0) return { found, reached: tenant }
    }
    return { found }
  }

  return ({ tenant, ...aged }) =>
    retryOnConflict(async () => {
      const part = tenant === undefined ? await findOfAll(aged) : { found: [await findOf(tenant, aged)] }
      const ids = part.found.flatMap((one) => one.ids)
      await removeThese(ids, db)
      if (tenant === undefined) reached = part.reached
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

type FindTenant = (after: string, before: string, acceptedForMs: number) => Promise<Tenant | undefined>

/** Finds the first tenant between two names that has dispatches. */
function tenantFinder({ dialect, nameOf, scan }: Database): FindTenant {
  const [forMs, low, high] = [1, 2, 3].map(dialect.parameter)
  const text = `select d.tenant, d.created_at, ${NOW} - ${forMs} as until from ${byTime(dialect, nameOf)}
    where d.tenant > ${low} and d.tenant < ${high} order by d.tenant, d.created_at limit 1`
  return async (after, before, acceptedForMs) => {
    const [row] = await scan<Readonly<Record<string, unknown>>>(text, [Math.floor(acceptedForMs), after, before])
    return row && { tenant: String(row.tenant), isOver: Number(row.created_at) < Number(row.until) }
  }
}
