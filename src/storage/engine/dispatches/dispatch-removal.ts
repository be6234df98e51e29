import type { DispatchRemoval } from '../../../ports/dispatch-removal.ts'
import { isOpenDispatch, leaveDigests } from '../../rules/dispatch-changes.ts'
import { boundedMap } from '../bounded-map.ts'
import { Changes, Conflict, retryOnConflict } from '../changes.ts'
import type { RecordOf } from '../kinds.ts'
import type { Records, Scan } from '../records.ts'
import { removeUnnamed } from './damaged-parts.ts'
import { loadDispatches, loadPlans } from './load-dispatches.ts'
import { DispatchUnitOfWork } from './unit-of-work.ts'

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

type Head = Pick<RecordOf<'dispatches'>, 'tenant' | 'created_at' | 'dispatch_id'>

const MAX_MARKS = 1_000
/** Dispatches that one commit removes. */
const SOME = 500
const ENDED = { of: 'states', column: 'outcomes', lacks: ' open\n' } as const

/**
 * Removes a part of the old dispatches: of a tenant, or of one tenant after another. The next part begins where this one has ended, because
 * it would otherwise read the dead index entries of removed records again.
 */
export function dispatchRemover(records: Records): (removal: DispatchRemoval) => Promise<number> {
  const marks = boundedMap<number>(MAX_MARKS)
  let reached: string | undefined

  async function first(scan: Partial<Scan<'dispatches'>>, limit = 1): Promise<readonly Head[]> {
    const byTime = { kind: 'dispatches', index: 'by_time', with: [[]], columns: [] } as const
    const { found } = await records.scan<'dispatches'>({ ...byTime, ...scan, limit })
    return found.map(({ record }) => record)
  }

  /** @param before The instant that the dispatches precede. */
  async function findOf(tenant: string, before: number, limit: number): Promise<Found> {
    const since = marks.get(tenant) ?? 0
    const ofTenant = { with: [[tenant]], where: [ENDED] }
    const later = await first({ ...ofTenant, from: [since], until: [before] }, limit)
    // Those that were skipped, because a delivery was open.
    const earlier =
      since > 0 && later.length < limit
        ? await first({ ...ofTenant, until: [Math.min(since, before)] }, limit - later.length)
        : []
    const ids = [...later, ...earlier].map(({ dispatch_id }) => dispatch_id)
    const last = earlier.at(-1) ?? later.at(-1)
    return { tenant, ids, ...(ids.length >= limit && last && { until: last.created_at }) }
  }

  /** Tenants with old dispatches, from one on and around. */
  async function* tenantsFrom(start: string | undefined, before: number): AsyncGenerator<string> {
    // Its first record is not looked for: it comes after dead index entries.
    if (start !== undefined) yield start
    const parts: readonly Partial<Scan<'dispatches'>>[] =
      start === undefined ? [{}] : [{ after: [start] }, { until: [start] }]
    for (const part of parts) {
      let [next] = await first(part)
      while (next) {
        if (next.created_at < before) yield next.tenant
        ;[next] = await first({ ...part, after: [next.tenant] })
      }
    }
  }

  async function findOfAll(before: number, limit: number): Promise<Part> {
    const found: Found[] = []
    let left = limit
    for await (const tenant of tenantsFrom(reached, before)) {
      const one = await findOf(tenant, before, left)
      found.push(one)
      left -= one.ids.length
      if (left <= 0) return { found, reached: tenant }
    }
    return { found }
  }

  function removePart(tenant: string | undefined, acceptedForMs: number, limit: number): Promise<number> {
    return retryOnConflict(async () => {
      const before = (await records.now()).earliest - acceptedForMs
      const part =
        tenant === undefined ? await findOfAll(before, limit) : { found: [await findOf(tenant, before, limit)] }
      const ids = part.found.flatMap((one) => one.ids)
      await removeThese(ids, records)
      if (tenant === undefined) reached = part.reached
      for (const { tenant: name, until } of part.found) {
        if (until === undefined) marks.delete(name)
        else marks.put(name, until)
      }
      return ids.length
    })
  }

  return async ({ tenant, acceptedForMs, limit }) => {
    let removed = 0
    while (removed < limit) {
      const some = Math.min(SOME, limit - removed)
      const count = await removePart(tenant, acceptedForMs, some)
      removed += count
      if (count < some) break
    }
    return removed
  }
}

async function removeThese(ids: readonly string[], records: Records): Promise<void> {
  if (ids.length === 0) return
  const work = new DispatchUnitOfWork((await records.now()).earliest)
  await loadDispatches(ids, records, work)
  await loadPlans(ids, records, work)
  for (const id of ids) {
    const row = work.dispatch(id)
    if (!row || isOpenDispatch(row)) throw new Conflict('a dispatch has changed since it was found')
    leaveDigests(row)
    work.remove(row)
  }
  const changes = new Changes()
  await removeUnnamed(work, changes, records)
  await work.write(records, changes)
}
