import type { Page } from '../../../ports/dispatch-query.ts'
import type { StoredSession } from '../../../ports/run-store.ts'
import type { SessionQuery } from '../../../ports/session-query.ts'
import { ifReadable } from '../../engine/json-values.ts'
import type { Database } from '../connection/database.ts'
import { Parameters } from '../connection/dialects.ts'
import { cursorOf, filledPage, type IndexScan, positionOf, scanText } from '../connection/keyset-pagination.ts'
import { SESSION_COLUMNS, storedSession } from './run-records.ts'

type Row = Readonly<Record<string, unknown>>

const COLUMNS = SESSION_COLUMNS.map((column) => `r.${column}`).join(', ')

export function listSessionRows(query: SessionQuery, db: Database): Promise<Page<StoredSession>> {
  const { tenant, since, until, first = 'newest' } = query
  const scan: IndexScan = {
    table: 'sessions',
    index: 'by_time',
    keys: [['tenant', tenant]],
    at: 'created_at',
    id: 'session_id',
  }
  return filledPage(query.limit, query.cursor, async (cursor, amount) => {
    const parameters = new Parameters(db.dialect)
    const range = { since, until, after: positionOf(cursor), isNewestFirst: first === 'newest' }
    const rows = await db.scan<Row>(scanText(scan, range, COLUMNS, amount, parameters, db), parameters.values)
    const entries = rows.map((row) => ({
      cursor: cursorOf(Number(row.created_at), String(row.session_id)),
      item: ifReadable(() => storedSession(row)),
    }))
    return { entries, isEnd: rows.length < amount }
  })
}
