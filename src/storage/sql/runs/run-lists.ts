import type { Page } from '../../../ports/dispatch-query.ts'
import type { RunQuery, StoredRun } from '../../../ports/run-store.ts'
import { isOpenRun } from '../../rules/run-rules.ts'
import { cursorOf, positionOf } from '../connection/cursors.ts'
import type { Database } from '../connection/database.ts'
import type { Dialect } from '../connection/dialects.ts'
import { filledPage } from '../connection/filled-page.ts'
import { binder, type IndexScan, mergedText, type ScanRange, scanText } from '../connection/index-scan.ts'
import { lookUp } from '../connection/look-ups.ts'
import { NOW } from '../connection/statements.ts'
import { indexKey } from '../dispatches/delivery-records.ts'
import { RUN_COLUMNS, storedRun, tagLines } from './run-records.ts'
import { holds } from './run-texts.ts'

type Row = Readonly<Record<string, unknown>>

/** A place in a list: of all tenants, the tenant is a part of it. */
interface RunPlace {
  readonly at: number
  readonly tenant?: string
  readonly runId: string
}

/** One page of runs, in the order in which they were created. The cursor is the place of the run that it ends with. */
export async function listRunRows(query: RunQuery, db: Database): Promise<Page<StoredRun>> {
  if (query.status?.length === 0) return { items: [] }
  if (query.silentForMs !== undefined) await db.sync()
  return filledPage(query.limit, query.cursor, async (cursor, amount) => {
    const rows = await readRows({ ...query, cursor }, amount, db)
    const entries = rows.map((row) => ({
      cursor: writePlace(placeAt(row, query)),
      item: row.state === null ? undefined : storedRun(row),
    }))
    return { entries, isEnd: rows.length < amount }
  })
}

/** Rows from the cursor on; those that do not fit have no state and no account. */
async function readRows(query: RunQuery, amount: number, db: Database): Promise<readonly Row[]> {
  const { tenant, since } = query
  const { scans, reported } = planOf(query)
  const from = readPlace(query)
  const isOverTenants = scans[0]?.ids.includes('tenant')
  const after = from && { at: from.at, ids: isOverTenants ? [from.tenant ?? tenant ?? '', from.runId] : [from.runId] }
  const range: ScanRange = { since, until: latestOf(query, db), after, isNewestFirst: query.first === 'newest' }
  const { bind, parameters } = binder(db)
  /** @param place What has the place of a row. */
  const columns = (place: 'r' | 'p'): string => {
    const ifFits = (column: string): string => {
      const filters = filtersOf(query, reported, db.dialect).map(([text, ...values]) => bind(text, values))
      return filters.length > 0 ? `case when ${filters.join(' and ')} then r.${column} end as ${column}` : `r.${column}`
    }
    // The long texts are not read of rows that do not fit.
    const isLong = (column: string): boolean => column === 'state' || column === 'derived'
    const own = RUN_COLUMNS.filter((column) => column !== 'created_at')
    const read = own.map((column) => (isLong(column) ? ifFits(column) : `r.${column}`))
    return `${place}.run_id, ${place}.created_at, ${read.join(', ')}`
  }
  const [scan, ...others] = scans
  if (scan?.table === 'runs' && others.length === 0)
    return db.scan<Row>(scanText(scan, range, columns('r'), amount, bind, db), parameters)

  // The states are read of those rows alone that are left.
  const shown = columns('p')
  const texts = scans.map((one) => scanText(one, range, 'r.run_id, r.created_at', amount, bind, db))
  const places = mergedText(texts, ['created_at', 'run_id'], range, amount)
  const direction = range.isNewestFirst ? 'desc' : 'asc'
  const on = `r.run_id = p.run_id and ${bind('r.tenant = ?', [tenant])}`
  // A place whose run is gone is passed over, and is not the end of the list.
  const runs = lookUp({ table: 'runs', alias: 'r', on, isLeft: true }, db.dialect, db.nameOf)
  const text = `select ${shown} from (${places}) p ${runs}
    order by p.created_at ${direction}, p.run_id ${direction}`
  return db.scan<Row>(text, parameters)
}

/** Before when a run was created: what was silent for so long is older than that. */
function latestOf({ until, silentForMs }: RunQuery, db: Database): number | undefined {
  if (silentForMs === undefined) return until
  return Math.min(until ?? Number.POSITIVE_INFINITY, db.now() + db.uncertaintyMs() - silentForMs)
}

/** The indexes that serve a query, and the filters that they tell all of. */
interface Plan {
  readonly scans: readonly IndexScan[]
  readonly reported?: 'sessionId' | 'userId' | 'status' | 'model' | 'provider'
}

/**
 * A session, a user and a tag have fewer runs than a status, unless that is `completed`; then a model, and a provider. The others of
 * a combination are filters of the rows that are read. Of all tenants, what is open or untold has an index, and nothing else.
 */
function planOf({ tenant, sessionId, userId, tag, status, model, provider, pending }: RunQuery): Plan {
  if (pending) return { scans: [overTenants('pending_since', 'pending')] }
  if (tenant === undefined) {
    const isOpen = status?.every(isOpenRun)
    return { scans: [isOpen ? overTenants('open_since', 'open') : overTenants('created_at')] }
  }
  const by = (index: string, column: string, value: string, table: IndexScan['table'] = 'runs'): IndexScan => {
    return {
      table,
      index,
      keys: [
        ['tenant', tenant],
        [column, value],
      ],
      at: 'created_at',
      ids: ['run_id'],
    }
  }
  const byStatus = [...new Set(status)].map((one) => by('by_status', 'status', one))
  const isRare = status !== undefined && !status.includes('completed')
  if (sessionId !== undefined) return { scans: [by('by_session', 'session_id', sessionId)], reported: 'sessionId' }
  if (userId !== undefined) return { scans: [by('by_user', 'user_id', userId)], reported: 'userId' }
  if (tag !== undefined) return { scans: [by('by_tag', 'tag_key', indexKey(tag), 'run_tags')] }
  if (isRare) return { scans: byStatus, reported: 'status' }
  if (model !== undefined) return { scans: [by('by_model', 'model', model)], reported: 'model' }
  if (provider !== undefined) return { scans: [by('by_provider', 'provider', provider)], reported: 'provider' }
  if (status !== undefined) return { scans: byStatus, reported: 'status' }
  const all: IndexScan = {
    table: 'runs',
    index: 'by_time',
    keys: [['tenant', tenant]],
    at: 'created_at',
    ids: ['run_id'],
  }
  return { scans: [all] }
}

function overTenants(at: string, index?: string): IndexScan {
  return { table: 'runs', ...(index !== undefined && { index }), keys: [], at, ids: ['tenant', 'run_id'] }
}

type Condition = readonly [text: string, ...values: readonly unknown[]]

/** What each row is held against. */
function filtersOf(query: RunQuery, reported: Plan['reported'], dialect: Dialect): readonly Condition[] {
  const { tenant, sessionId, status, provider, model, userId, tag, silentForMs, pending } = query
  const filters: Condition[] = []
  const hold = (name: Plan['reported'], column: string, value: string | undefined): void => {
    if (value !== undefined && reported !== name) filters.push([`r.${column} = ?`, value])
  }
  if (pending && tenant !== undefined) filters.push(['r.tenant = ?', tenant])
  hold('sessionId', 'session_id', sessionId)
  hold('userId', 'user_id', userId)
  hold('provider', 'provider', provider)
  hold('model', 'model', model)
  if (status && reported !== 'status') filters.push([`r.status in (${status.map(() => '?').join(', ')})`, ...status])
  if (tag !== undefined) filters.push([holds('r.tags', '?', dialect), tagLines([tag])])
  if (silentForMs !== undefined) filters.push([`r.last_seen_at < ${NOW} - ?`, Math.floor(silentForMs)])
  return filters
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
  const place = positionOf(cursor)
  if (!place || tenant !== undefined) return place && { at: place.at, runId: place.id }
  const [lead, length] = /^(\d{1,4}) /.exec(place.id) ?? []
  if (lead === undefined) return undefined
  const end = lead.length + Number(length)
  return { at: place.at, tenant: place.id.slice(lead.length, end), runId: place.id.slice(end) }
}
