import type { Dialect } from './dialects.ts'
import type { Records, TableName } from './records.ts'
import { TABLES, type Table } from './tables.ts'

/** All columns of a table for a `select`, each under the prefix, so that several tables fit in one row. */
export function columnsOf(table: TableName, alias: string, dialect: Dialect, prefix = ''): string {
  const names = Object.keys(TABLES[table].columns)
  return names.map((name) => `${alias}.${dialect.quote(name)} as ${dialect.quote(prefix + name)}`).join(', ')
}

/** The record of a table in a row that was read. Drivers give great integers as texts or big integers. */
export function readRecord<Name extends TableName>(
  table: Name,
  row: Readonly<Record<string, unknown>>,
  prefix = '',
): Records[Name] {
  const { columns }: Table = TABLES[table]
  const record: Record<string, unknown> = {}
  for (const name in columns) {
    const value = row[prefix + name]
    const kind = columns[name]?.kind
    record[name] =
      value === null || value === undefined ? null : kind === 'integer' || kind === 'flag' ? Number(value) : value
  }
  return record as unknown as Records[Name]
}
