import type { Records } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'
import type { Database } from './database.ts'
import { columnsOf, lookUp, readRecord } from './dialects.ts'

type KeyedTable = 'feedback' | 'suppressions' | 'preferences' | 'statistics' | 'workers'

/** Reads the rows that have any of the given keys. Each key has values of the columns of one index, or of the primary key. */
export async function rowsByKey<Name extends KeyedTable>(
  table: Name,
  keys: readonly Readonly<Partial<Records[Name]>>[],
  db: Database,
  index?: string,
): Promise<readonly Records[Name][]> {
  const [first] = keys
  if (!first) return []
  const { dialect, nameOf, query } = db
  const { columns } = TABLES[table]
  const names = Object.keys(first)
  const given = dialect.rows(
    dialect.parameter(1),
    Object.fromEntries(names.map((name) => [name, columns[name as keyof typeof columns]])),
    'x',
  )
  const on = names.map((name) => `f.${name} = x.${name}`).join(' and ')
  const found = lookUp({ table, alias: 'f', on, ...(index !== undefined && { index }) }, dialect, nameOf)
  const text = `select ${columnsOf(table, 'f', dialect)} from ${given} ${found}`
  const rows = await query<Readonly<Record<string, unknown>>>(text, [JSON.stringify(keys)])
  return rows.map((row) => readRecord(table, row))
}
