import type { Page } from '../../../ports/dispatch-query.ts'
import type { RunQuery, StoredRun } from '../../../ports/run-store.ts'
import { isOpenRun } from '../../rules/run-rules.ts'
import { ifReadable } from '../json-values.ts'
import type { IndexOf } from '../kinds.ts'
import { readPage, timeRange } from '../pages.ts'
import type { Prefix, Records } from '../records.ts'
import { ownRun, RUN_COLUMNS, type RunRecord, tagKey, tagLines } from './run-records.ts'

/** Reads the index with the fewest records; other filters are checked per record. Skips runs that cannot be read. */
export async function listRuns(query: RunQuery, records: Records): Promise<Page<StoredRun>> {
  if (query.status?.length === 0) return { items: [] }
  const { limit, cursor } = query
  const silentSince = await silentBefore(query, records)
  const range = rangeOf(query, silentSince)
  const plan = planOf(query)
  const where = conditionsOf(query, plan.covered, silentSince)
  const { covered: _, with: ranges = await tenantsOf(records), ...indexed } = plan
  const scan = { kind: 'runs', ...indexed, with: ranges, ...range, where, columns: RUN_COLUMNS } as const
  const itemsOf = async (found: readonly RunRecord[]) => found.map((record) => listedRun(record, records))
  return readPage<'runs', StoredRun>(records, scan, { limit, cursor, itemsOf })
}

/** Runs are silent if their last sign of life was before this instant. */
async function silentBefore({ silentForMs }: RunQuery, records: Records): Promise<number | undefined> {
  if (silentForMs === undefined) return undefined
  const { latest } = await records.now()
  return latest - Math.floor(silentForMs)
}

/** A silent run is at least as old as its silence. */
function rangeOf(
  { since, until, first = 'oldest' }: RunQuery,
  silentSince: number | undefined,
): ReturnType<typeof timeRange> {
  const bounds = [until, silentSince].filter((bound) => bound !== undefined)
  return timeRange(since, bounds.length > 0 ? Math.min(...bounds) : undefined, first)
}

interface Plan {
  readonly by?: 'run_tags'
  readonly index: IndexOf<'runs'> | IndexOf<'run_tags'>
  /** Absent: all tenants. */
  readonly with?: readonly Prefix[]
  readonly covered?: 'sessionId' | 'userId' | 'tag' | 'status' | 'model' | 'provider'
}

/**
 * Chooses the index with the fewest records; `completed` is the most frequent status. Across tenants only open and pending runs have an
 * index.
 */
function planOf({ tenant, sessionId, userId, tag, status, model, provider, pending }: RunQuery): Plan {
  if (pending) return { index: 'pending', with: [[]] }
  if (tenant === undefined) return status?.every(isOpenRun) ? { index: 'open', with: [[]] } : { index: 'by_time' }
  const by = (index: Plan['index'], covered: NonNullable<Plan['covered']>, values: readonly string[]): Plan => ({
    index,
    with: [...new Set(values)].map((value) => [tenant, value]),
    covered,
  })
  const isRare = status !== undefined && !status.includes('completed')
  if (sessionId !== undefined) return by('by_session', 'sessionId', [sessionId])
  if (userId !== undefined) return by('by_user', 'userId', [userId])
  if (tag !== undefined) {
    const key = tagKey(tag)
    return { by: 'run_tags', index: 'by_tag', with: [[tenant, key]], ...(key === tag && { covered: 'tag' }) }
  }
  if (isRare) return by('by_status', 'status', status)
  if (model !== undefined) return by('by_model', 'model', [model])
  if (provider !== undefined) return by('by_provider', 'provider', [provider])
  if (status !== undefined) return by('by_status', 'status', status)
  return { index: 'by_time', with: [[tenant]] }
}

/** All tenants with runs, one after the other: only maintenance lists all runs. */
async function tenantsOf(records: Records): Promise<readonly Prefix[]> {
  const tenants: Prefix[] = []
  for (;;) {
    const after = tenants.at(-1)
    const one = { kind: 'runs', index: 'by_time', with: [[]], limit: 1, most: 1, columns: [] } as const
    const { found } = await records.scan<'runs'>({ ...one, ...(after && { after }) })
    const [next] = found
    if (!next) return tenants
    tenants.push([next.record.tenant])
  }
}

/** A condition on the record of a run. */
type Condition =
  | { readonly column: keyof RunRecord; readonly in: readonly string[] }
  | { readonly column: 'tags'; readonly contains: string }
  | { readonly column: 'last_seen_at'; readonly below: number }

function conditionsOf(
  { tenant, sessionId, status, provider, model, userId, tag, pending }: RunQuery,
  covered: Plan['covered'],
  silentSince: number | undefined,
): readonly Condition[] {
  const conditions: Condition[] = []
  const equals = (name: Plan['covered'], column: keyof RunRecord, value: string | undefined): void => {
    if (value !== undefined && covered !== name) conditions.push({ column, in: [value] })
  }
  if (pending && tenant !== undefined) conditions.push({ column: 'tenant', in: [tenant] })
  equals('sessionId', 'session_id', sessionId)
  equals('userId', 'user_id', userId)
  equals('provider', 'provider', provider)
  equals('model', 'model', model)
  if (status && covered !== 'status') conditions.push({ column: 'status', in: status })
  if (tag !== undefined && covered !== 'tag') conditions.push({ column: 'tags', contains: tagLines([tag]) })
  if (silentSince !== undefined) conditions.push({ column: 'last_seen_at', below: silentSince })
  return conditions
}

function listedRun(record: RunRecord, records: Records): StoredRun | undefined {
  return ifReadable(() => ownRun(record, records))
}
