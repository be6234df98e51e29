import type { TokenUse } from '../../../model/token-use.ts'
import type { Page } from '../../../ports/dispatch-query.ts'
import type { TokenUseQuery } from '../../../ports/token-store.ts'
import type { Database } from '../connection/database.ts'
import { columnsOf, Parameters, readRecord } from '../connection/dialects.ts'
import { cursorOf, filledPage, type IndexScan, positionOf, scanText } from '../connection/keyset-pagination.ts'
import type { TokenUseRecord } from '../schema/records.ts'

export function listTokenUses(query: TokenUseQuery, db: Database): Promise<Page<TokenUse>> {
  const scan = scanOf(query)
  return filledPage(query.limit, query.cursor, async (cursor, amount) => {
    const after = positionOf(cursor)
    const parameters = new Parameters(db.dialect)
    const columns = columnsOf('token_uses', 'r', db.dialect)
    const text = scanText(scan, { isNewestFirst: true, after }, columns, amount, parameters, db)
    const rows = await db.scan<Readonly<Record<string, unknown>>>(text, parameters.values)
    const entries = rows.map((row) => {
      const use = tokenUseOf(readRecord('token_uses', row))
      return { cursor: cursorOf(use.at, use.useId), item: fits(use, query) ? use : undefined }
    })
    return { entries, isEnd: entries.length < amount }
  })
}

/** Chooses the index with the fewest rows. */
function scanOf({ tenant, jti, sessionId, outcome }: TokenUseQuery): IndexScan {
  const of = (index: string, ...key: readonly (readonly [string, string])[]): IndexScan => {
    return { table: 'token_uses', index, keys: [['tenant', tenant], ...key], at: 'used_at', id: 'use_id' }
  }
  if (jti !== undefined) return of('by_token', ['jti', jti])
  if (sessionId !== undefined) return of('by_session', ['session_id', sessionId])
  return outcome === undefined ? of('by_time') : of('by_outcome', ['outcome', outcome])
}

function fits(use: TokenUse, { sessionId, outcome }: TokenUseQuery): boolean {
  return (sessionId === undefined || use.sessionId === sessionId) && (outcome === undefined || use.outcome === outcome)
}

function tokenUseOf(record: TokenUseRecord): TokenUse {
  return {
    useId: record.use_id,
    tenant: record.tenant,
    sessionId: record.session_id,
    jti: record.jti,
    operation: record.operation as TokenUse['operation'],
    outcome: record.outcome as TokenUse['outcome'],
    ...(record.code !== null && { code: record.code }),
    ...(record.record_id !== null && { id: record.record_id }),
    times: record.times,
    at: record.used_at,
  }
}
