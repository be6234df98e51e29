import type { Page } from '../../../ports/dispatch-query.ts'
import type { RunQuery, StoredRun } from '../../../ports/run-store.ts'
import { ifReadable } from '../../engine/json-values.ts'
import { isOpenRun } from '../../rules/run-rules.ts'
import { NOW } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { type Dialect, lookUp, Parameters } from '../connection/dialects.ts'
import {
  cursorOf,
  filledPage,
  type IndexScan,
  mergedText,
  orderOf,
  positionOf,
  type ScanRange,
  scanText,
} from '../connection/keyset-pagination.ts'
import { contains } from '../connection/stored-texts.ts'
import { RUN_COLUMNS, storedRun, tagKey, tagLines } from './run-records.ts'

type Row = Readonly<Record<string, unknown>>

const ORDER = ['created_at', 'tie_breaker'] as const
const PLACE = 'r.session_id, r.run_id, r.created_at, r.tie_breaker'

export async function listRunRows(query: RunQuery, db: Database): Promise<Page<StoredRun>> {
  if (query.status?.length === 0) return { items: [] }
  if (query.silentForMs !== undefined) await db.sync()
  return filledPage(query.limit, query.cursor, async (cursor, amount) => {
    const rows = await readRows({ ...query, cursor }, amount, db)
    const entries = rows.map((row) => ({
      cursor: cursorOf(Number(row.created_at), String(row.tie_breaker)),
      item: row.state === null ? undefined : ifReadable(() => storedRun(row)),
    }))
    return { entries, isEnd: rows.length < amount }
  })
}

async function readRows(query: RunQuery, amount: number, db: Database): Promise<readonly Row[]> {
  const { tenant, since } = query
  const { scans, covered } = planOf(query)
  const range: ScanRange = {
    since,
    until: latestOf(query, db),
    after: readPlace(query.cursor),
    isNewestFirst: query.first === 'newest',
  }
  const parameters = new Parameters(db.dialect)
  /** @param place The alias that has the place of a row. */
  const columns = (place: 'r' | 'p'): string => {
    const ifFits = (column: string): string => {
      const filters = filtersOf(query, covered, db.dialect).map(([text, ...values]) => parameters.bind(text, values))
      return filters.length > 0 ? `case when ${filters.join(' and ')} then r.${column} end as ${column}` : `r.${column}`
    }
    // Do not read the long texts of rows that do not match.
    const isLong = (column: string): boolean => column === 'state' || column === 'derived'
    const own = RUN_COLUMNS.filter((column) => column !== 'created_at')
    const read = own.map((column) => (isLong(column) ? ifFits(column) : `r.${column}`))
    return `${place}.created_at, ${place}.tie_breaker, ${read.join(', ')}`
  }
  const [scan, ...others] = scans
  if (scan?.table === 'runs' && others.length === 0)
    return db.scan<Row>(scanText(scan, range, columns('r'), amount, parameters, db), parameters.values)

  // Merge the places first; then read only the rows of the page.
  const shown = columns('p')
  const texts = scans.map((one) => scanText(one, range, PLACE, amount, parameters, db))
  const places = mergedText(texts, ORDER, range, amount)
  const key = ['r.run_id', 'r.session_id', 'r.tenant']
  const on = db.dialect.sameRow(key, ['p.run_id', 'p.session_id', parameters.add(tenant)])
  // A place whose run was removed is skipped and does not end the list.
  const runs = lookUp({ table: 'runs', alias: 'r', on, isLeft: true }, db.dialect, db.nameOf)
  const text = `select ${shown} from (${places}) p ${runs} order by ${orderOf('p', ORDER, range)}`
  return db.scan<Row>(text, parameters.values)
}

/** The latest creation time: a silent run is at least as old as its silence. */
function latestOf({ until, silentForMs }: RunQuery, db: Database): number | undefined {
  if (silentForMs === undefined) return until
  return Math.min(until ?? Number.POSITIVE_INFINITY, db.now() + db.uncertaintyMs() - silentForMs)
}

interface Plan {
  readonly scans: readonly IndexScan[]
  readonly covered?: 'sessionId' | 'userId' | 'status' | 'model' | 'provider'
}

/**
 * Chooses the index with the fewest rows; `completed` is the most frequent status. Other filters are checked per row. Across tenants only
 * open and pending runs have an index.
 */
function planOf({ tenant, sessionId, userId, tag, status, model, provider, pending }: RunQuery): Plan {
  if (pending) return { scans: [overTenants('pending_since', 'pending')] }
  if (tenant === undefined) {
    const isOpen = status?.every(isOpenRun)
    return { scans: [isOpen ? overTenants('open_since', 'open') : overTenants('created_at')] }
  }
  const by = (index: string, column?: string, value = '', table: IndexScan['table'] = 'runs'): IndexScan => {
    const keys = [['tenant', tenant] as const, ...(column === undefined ? [] : [[column, value] as const])]
    return { table, index, keys, at: 'created_at', id: 'tie_breaker' }
  }
  const byStatus = [...new Set(status)].map((one) => by('by_status', 'status', one))
  const isRare = status !== undefined && !status.includes('completed')
  if (sessionId !== undefined) return { scans: [by('by_session', 'session_id', sessionId)], covered: 'sessionId' }
  if (userId !== undefined) return { scans: [by('by_user', 'user_id', userId)], covered: 'userId' }
  if (tag !== undefined) return { scans: [by('by_tag', 'tag_key', tagKey(tag), 'run_tags')] }
  if (isRare) return { scans: byStatus, covered: 'status' }
  if (model !== undefined) return { scans: [by('by_model', 'model', model)], covered: 'model' }
  if (provider !== undefined) return { scans: [by('by_provider', 'provider', provider)], covered: 'provider' }
  if (status !== undefined) return { scans: byStatus, covered: 'status' }
  return { scans: [by('by_time')] }
}

function overTenants(at: string, index?: string): IndexScan {
  return { table: 'runs', ...(index !== undefined && { index }), keys: [], at, id: 'tie_breaker' }
}

type Condition = readonly [text: string, ...values: readonly unknown[]]

function filtersOf(query: RunQuery, covered: Plan['covered'], dialect: Dialect): readonly Condition[] {
  const { tenant, sessionId, status, provider, model, userId, tag, silentForMs, pending } = query
  const filters: Condition[] = []
  const equals = (name: Plan['covered'], column: string, value: string | undefined): void => {
    if (value !== undefined && covered !== name) filters.push([`r.${column} = ?`, value])
  }
  if (pending && tenant !== undefined) filters.push(['r.tenant = ?', tenant])
  equals('sessionId', 'session_id', sessionId)
  equals('userId', 'user_id', userId)
  equals('provider', 'provider', provider)
  equals('model', 'model', model)
  if (status && covered !== 'status') filters.push([`r.status in (${status.map(() => '?').join(', ')})`, ...status])
  if (tag !== undefined) filters.push([contains('r.tags', '?', dialect), tagLines([tag])])
  if (silentForMs !== undefined) filters.push([`r.last_seen_at < ${NOW} - ?`, Math.floor(silentForMs)])
  return filters
}

/** `undefined` for a missing or unknown cursor: the list starts from the beginning. */
function readPlace(cursor: string | undefined): ScanRange['after'] {
  const place = positionOf(cursor)
  return place && /^\d{1,16}$/.test(place.id) ? { at: place.at, id: Number(place.id) } : undefined
}
