import type { Records, TableName } from '../schema/records.ts'
import type { Table } from '../schema/table.ts'
import { TABLES } from '../schema/tables.ts'
import type { Dialect } from './dialects.ts'

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
  const record: Record<string, unknown> = {}
  for (const [name, isNumber] of READ[table] ?? []) {
    const value = row[prefix + name] ?? null
    record[name] = isNumber && typeof value !== 'number' && value !== null ? Number(value) : value
  }
  return record as unknown as Records[Name]
}

/** The columns of each table, and whether a number is in them. */
const READ: Readonly<Record<string, readonly (readonly [name: string, isNumber: boolean])[]>> = Object.fromEntries(
  Object.entries<Table>(TABLES).map(([table, { columns }]) => [
    table,
    Object.entries(columns).map(([name, { kind }]) => [name, kind === 'integer' || kind === 'flag'] as const),
  ]),
)
