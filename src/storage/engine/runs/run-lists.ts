import type { Page } from '../../../ports/dispatch-query.ts'
import type { RunQuery, StoredRun } from '../../../ports/run-store.ts'
import { compoundKey } from '../../rules/compound-key.ts'
import { isOpenRun } from '../../rules/run-rules.ts'
import { ifReadable } from '../json-values.ts'
import type { IndexOf, RecordOf } from '../kinds.ts'
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
  if (plan.kind === 'run_tags') {
    const { kind, index } = plan
    const ofRuns = where.map((condition) => ({ ...condition, of: 'runs' as const }))
    const scan = { kind, index, with: plan.with, ...range, where: ofRuns }
    const itemsOf = (tags: readonly TagRecord[]) => runsOfTags(tags, where, records)
    return readPage<'run_tags', StoredRun>(records, scan, { limit, cursor, itemsOf })
  }
  const { kind, index } = plan
  const ranges = plan.with ?? (await tenantsOf(records))
  const scan = { kind, index, with: ranges, ...range, where, columns: RUN_COLUMNS }
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

type TagRecord = RecordOf<'run_tags'>

interface RunPlan {
  readonly kind: 'runs'
  readonly index: IndexOf<'runs'>
  /** Absent: all tenants. */
  readonly with?: readonly Prefix[]
  readonly covered?: 'sessionId' | 'userId' | 'status' | 'model' | 'provider'
}

interface TagPlan {
  readonly kind: 'run_tags'
  readonly index: IndexOf<'run_tags'>
  readonly with: readonly Prefix[]
  readonly covered?: undefined
}

/**
 * Chooses the index with the fewest records; `completed` is the most frequent status. Across tenants only open and pending runs have an
 * index.
 */
function planOf({ tenant, sessionId, userId, tag, status, model, provider, pending }: RunQuery): RunPlan | TagPlan {
  if (pending) return { kind: 'runs', index: 'pending', with: [[]] }
  if (tenant === undefined)
    return status?.every(isOpenRun) ? { kind: 'runs', index: 'open', with: [[]] } : { kind: 'runs', index: 'by_time' }
  const by = (
    index: RunPlan['index'],
    covered: NonNullable<RunPlan['covered']>,
    values: readonly string[],
  ): RunPlan => ({
    kind: 'runs',
    index,
    with: [...new Set(values)].map((value) => [tenant, value]),
    covered,
  })
  const isRare = status !== undefined && !status.includes('completed')
  if (sessionId !== undefined) return by('by_session', 'sessionId', [sessionId])
  if (userId !== undefined) return by('by_user', 'userId', [userId])
  if (tag !== undefined) return { kind: 'run_tags', index: 'by_tag', with: [[tenant, tagKey(tag)]] }
  if (isRare) return by('by_status', 'status', status)
  if (model !== undefined) return by('by_model', 'model', [model])
  if (provider !== undefined) return by('by_provider', 'provider', [provider])
  if (status !== undefined) return by('by_status', 'status', status)
  return { kind: 'runs', index: 'by_time', with: [[tenant]] }
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
  covered: RunPlan['covered'],
  silentSince: number | undefined,
): readonly Condition[] {
  const conditions: Condition[] = []
  const equals = (name: RunPlan['covered'], column: keyof RunRecord, value: string | undefined): void => {
    if (value !== undefined && covered !== name) conditions.push({ column, in: [value] })
  }
  if (pending && tenant !== undefined) conditions.push({ column: 'tenant', in: [tenant] })
  equals('sessionId', 'session_id', sessionId)
  equals('userId', 'user_id', userId)
  equals('provider', 'provider', provider)
  equals('model', 'model', model)
  if (status && covered !== 'status') conditions.push({ column: 'status', in: status })
  if (tag !== undefined) conditions.push({ column: 'tags', contains: tagLines([tag]) })
  if (silentSince !== undefined) conditions.push({ column: 'last_seen_at', below: silentSince })
  return conditions
}

/** The runs of tags, in their order. They were read later than the tags, so that some may be removed or no longer match. */
async function runsOfTags(
  tags: readonly TagRecord[],
  conditions: readonly Condition[],
  records: Records,
): Promise<readonly (StoredRun | undefined)[]> {
  if (tags.length === 0) return []
  const { runs = [] } = await records.read([
    { kind: 'runs', with: tags.map(({ run_id, session_id, tenant }) => [run_id, session_id, tenant]) },
  ])
  const byKey = new Map(runs.map((record) => [keyOf(record), record]))
  return tags.map((tag) => {
    const record = byKey.get(keyOf(tag))
    return record && conditions.every((condition) => isMatch(record, condition))
      ? listedRun(record, records)
      : undefined
  })
}

function keyOf({ run_id, session_id, tenant }: Pick<RunRecord, 'run_id' | 'session_id' | 'tenant'>): string {
  return compoundKey(run_id, session_id, tenant)
}

function isMatch(record: RunRecord, condition: Condition): boolean {
  if ('in' in condition) return condition.in.some((value) => value === record[condition.column])
  if ('contains' in condition) return record.tags?.includes(condition.contains) === true
  return record.last_seen_at < condition.below
}

function listedRun(record: RunRecord, records: Records): StoredRun | undefined {
  return ifReadable(() => ownRun(record, records))
}
