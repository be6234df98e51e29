import { allColumns, type Dialect, lookUp, type NameTable } from '../dialects/dialects.ts'
import { TABLES } from '../tables/tables.ts'

const RECORDS_TABLE = 'plugin_records'

/** Columns by which records of a kind are found: the primary key, or one of the other indexes. */
export const RECORD_COLUMNS = ['key', 'a', 'b', 'c', 'd'] as const

export type RecordColumn = (typeof RECORD_COLUMNS)[number]

/**
 * Finds the records with any of the given texts in a column. PostgreSQL has no index hints: there, only the index of the column has
 * the order.
 * @param given Rows of tenants and texts, as a JSON array.
 */
export function findText(
  column: RecordColumn,
  kind: string,
  given: string,
  dialect: Dialect,
  nameOf: NameTable,
): string {
  const { tenant, [column]: text } = TABLES.plugin_records.columns
  const isOrdered = dialect.hasLateral && column !== 'key'
  const same = isOrdered
    ? `f.${column} >= x.text and f.${column} <= x.text order by f.${column}`
    : `f.${column} = x.text`
  const on = `f.kind = ${kind} and f.tenant = x.tenant and ${same}`
  const found = lookUp(
    { table: RECORDS_TABLE, ...(column !== 'key' && { index: `by_${column}` }), alias: 'f', on },
    dialect,
    nameOf,
  )
  return `select ${allColumns(RECORDS_TABLE, 'f', dialect)} from ${dialect.rows(given, { tenant, text }, 'x')} ${found}`
}
