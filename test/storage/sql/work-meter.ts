import { CompiledQuery, type Kysely } from 'kysely'
import type { DialectName } from '../../../src/storage/sql/dialects/dialects.ts'

// biome-ignore lint/suspicious/noExplicitAny: it is of any tables.
type Host = Kysely<any>
type Row = Readonly<Record<string, unknown>>

export async function rowsOf(db: Host, text: string, parameters: readonly unknown[] = []): Promise<readonly Row[]> {
  return (await db.executeQuery<Row>(CompiledQuery.raw(text, [...parameters]))).rows
}

/** The index entries and rows that a connection has read so far. PostgreSQL counts dead entries too. */
export type Meter = () => Promise<number>

const METERS: Partial<Record<DialectName, (db: Host) => Meter>> = {
  postgresql: (db) => async () => {
    await rowsOf(db, 'select pg_stat_force_next_flush()')
    const [row] = await rowsOf(
      db,
      `select (select sum(idx_tup_read) from pg_stat_user_indexes) + (select sum(seq_tup_read) from pg_stat_user_tables) as work`,
    )
    return Number(row?.work)
  },
  mariadb: (db) => async () => {
    const rows = await rowsOf(db, `show session status like 'Handler_read%'`)
    return rows.reduce((sum, { Value }) => sum + Number(Value), 0)
  },
}

/** @param db With one connection. */
export function meterOf(dialect: DialectName, db: Host): Meter {
  const meter = METERS[dialect]?.(db)
  if (!meter) throw new TypeError(`nothing counts what ${dialect} reads`)
  return meter
}

/** The amount that `work` reads. */
export async function workOf(meter: Meter, work: () => Promise<unknown>): Promise<number> {
  const before = await meter()
  await work()
  return (await meter()) - before
}

/** The pages that InnoDB reads for `select` statements, dead entries included. */
export async function pagesOf(db: Host, statements: readonly CompiledQuery[]): Promise<number> {
  let pages = 0
  for (const { sql, parameters } of statements.filter((one) => one.sql.startsWith('select'))) {
    const [row] = await rowsOf(db, `analyze format=json ${sql}`, parameters)
    for (const [, count] of String(row?.ANALYZE).matchAll(/"pages_accessed": (\d+)/g)) pages += Number(count)
  }
  return pages
}
