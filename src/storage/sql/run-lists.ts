import type { Page } from '../../ports/dispatch-store.ts'
import type { RunQuery, StoredRun } from '../../ports/run-store.ts'
import { isOpenRun } from '../open-run.ts'
import { cursorOf, placeOf } from './cursors.ts'
import type { Database } from './database.ts'
import type { Dialect } from './dialects.ts'
import { RUN_COLUMNS, storedRun, tagLines } from './run-records.ts'
import { holds } from './run-texts.ts'
import { NOW } from './statements.ts'

/** Looked at for one page at most, so that a list of which little fits does not take forever. */
const MAX_SEEN = 10_000
/** By so much more is read at once, where little of what was read fits. */
const GROWTH = 4

type Row = Readonly<Record<string, unknown>>

/** A place in a list: of all tenants, the tenant is a part of it. */
interface RunPlace {
  readonly at: number
  readonly tenant?: string
  readonly runId: string
}

/**
 * One page of runs, in the order in which they were created. The cursor is the place of the run that it ends with. Where very
 * few runs fit, the page ends early: what does not fit is passed over by the database, and its state is not read.
 */
export async function listRuns(query: RunQuery, db: Database): Promise<Page<StoredRun>> {
  const { limit, status } = query
  if (status?.length === 0) return { items: [] }
  const items: StoredRun[] = []
  let place = readPlace(query)
  let last = place
  let seen = 0
  for (let wanted = limit + 1; ; wanted = Math.min(wanted * GROWTH, MAX_SEEN - seen)) {
    const rows = await readRows(query, place, wanted, db)
    for (const row of rows) {
      const fits = row.state !== null
      // What was passed over since the last one that fits may fit by then.
      if (fits && items.length >= limit) return pageOf(items, last)
      place = placeAt(row, query)
      if (!fits) continue
      items.push(storedRun(row))
      last = place
    }
    if (rows.length < wanted) return { items }
    seen += rows.length
    if (seen >= MAX_SEEN) return pageOf(items, place)
  }
}

function pageOf(items: readonly StoredRun[], end: RunPlace | undefined): Page<StoredRun> {
  return { items, ...(end && { nextCursor: writePlace(end) }) }
}

/** Rows from there on; those that do not fit have no state. */
async function readRows(
  query: RunQuery,
  from: RunPlace | undefined,
  wanted: number,
  db: Database,
): Promise<readonly Row[]> {
  const { dialect, nameOf } = db
  const parameters: unknown[] = []
  const bind = (condition: string, values: readonly unknown[]): string => {
    let at = parameters.length
    parameters.push(...values)
    return condition.replaceAll('?', () => dialect.parameter(++at))
  }
  const filters = filtersOf(query, dialect).map(([condition, ...values]) => bind(condition, values))
  const fits = filters.length > 0 ? `case when ${filters.join(' and ')} then r.state end` : 'r.state'
  const columns = RUN_COLUMNS.filter((column) => column !== 'state').map((column) => `r.${column}`)
  const rangeTexts = rangesOf(query, from).map(([condition, ...values]) => bind(condition, values))
  const where = rangeTexts.length > 0 ? `where ${rangeTexts.join(' and ')}` : ''
  const order = orderOf(query).map((column) => `r.${column} ${query.first === 'newest' ? 'desc' : 'asc'}`)
  const text = `select r.run_id, ${columns.join(', ')}, ${fits} as state from ${nameOf('runs')} r ${where}
    order by ${order.join(', ')} ${bind('limit ?', [wanted])}`
  return db.query<Row>(text, parameters)
}

type Condition = readonly [text: string, ...values: readonly unknown[]]

/** What an index tells, or what few rows of one are left out by. */
function rangesOf(query: RunQuery, from: RunPlace | undefined): readonly Condition[] {
  const { tenant, sessionId, userId, since, until } = query
  const at = timeOf(query)
  const ranges: Condition[] = []
  if (tenant !== undefined) ranges.push(['r.tenant = ?', tenant])
  if (sessionId !== undefined) ranges.push(['r.session_id = ?', sessionId])
  if (userId !== undefined) ranges.push(['r.user_id = ?', userId])
  if (at !== 'created_at') ranges.push([`r.${at} is not null`])
  if (query.untold && at !== 'untold_since') ranges.push(['r.untold_since is not null'])
  if (since !== undefined) ranges.push([`r.${at} >= ?`, Math.ceil(since)])
  if (until !== undefined) ranges.push([`r.${at} < ?`, Math.ceil(until)])
  return from ? [...ranges, ...after(from, query)] : ranges
}

function after({ at, tenant, runId }: RunPlace, query: RunQuery): readonly Condition[] {
  const sign = query.first === 'newest' ? '<' : '>'
  const time = `r.${timeOf(query)}`
  const within: Condition =
    tenant === undefined
      ? [`r.run_id ${sign} ?`, runId]
      : [`(r.tenant ${sign} ? or (r.tenant = ? and r.run_id ${sign} ?))`, tenant, tenant, runId]
  const [text, ...values] = within
  return [
    [`${time} ${sign}= ?`, at],
    [`(${time} ${sign} ? or ${text})`, at, ...values],
  ]
}

/** What each row is held against. */
function filtersOf({ status, provider, model, tag, silentForMs }: RunQuery, dialect: Dialect): readonly Condition[] {
  const filters: Condition[] = []
  if (status)
    filters.push(status.length > 0 ? [`r.status in (${status.map(() => '?').join(', ')})`, ...status] : ['1 = 0'])
  if (provider !== undefined) filters.push(['r.provider = ?', provider])
  if (model !== undefined) filters.push(['r.model = ?', model])
  if (tag !== undefined) filters.push([holds('r.tags', '?', dialect), tagLines([tag])])
  if (silentForMs !== undefined) filters.push([`r.last_seen_at < ${NOW} - ?`, Math.floor(silentForMs)])
  return filters
}

/** The column that tells when a run was created, in the shortest index that has all that may fit. */
function timeOf({ tenant, sessionId, userId, status, untold }: RunQuery): 'created_at' | 'open_since' | 'untold_since' {
  if (untold) return 'untold_since'
  if (tenant !== undefined && (sessionId !== undefined || userId !== undefined)) return 'created_at'
  return status?.every(isOpenRun) ? 'open_since' : 'created_at'
}

function orderOf(query: RunQuery): readonly string[] {
  return query.tenant === undefined ? [timeOf(query), 'tenant', 'run_id'] : [timeOf(query), 'run_id']
}

function placeAt(row: Row, { tenant }: RunQuery): RunPlace {
  const place = { at: Number(row.created_at), runId: String(row.run_id) }
  return tenant === undefined ? { ...place, tenant: String(row.tenant) } : place
}

/** The name of a tenant is in a cursor of all tenants alone. */
function writePlace({ at, tenant, runId }: RunPlace): string {
  return cursorOf(at, tenant === undefined ? runId : `${tenant.length} ${tenant}${runId}`)
}

function readPlace({ cursor, tenant }: RunQuery): RunPlace | undefined {
  const place = placeOf(cursor)
  if (!place || tenant !== undefined) return place && { at: place.at, runId: place.id }
  const [lead, length] = /^(\d{1,4}) /.exec(place.id) ?? []
  if (lead === undefined) return undefined
  const end = lead.length + Number(length)
  return { at: place.at, tenant: place.id.slice(lead.length, end), runId: place.id.slice(end) }
}
