import { isNumber, type Table } from '../schema/columns.ts'
import type { Records, TableName } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'

/** The record of a table from a row. Drivers return large integers as text or `bigint`. */
export function readRecord<Name extends TableName>(
  table: Name,
  row: Readonly<Record<string, unknown>>,
  prefix = '',
): Records[Name] {
  const record: Record<string, unknown> = {}
  for (const { name, from, isInteger } of readColumns(table, prefix)) {
    const value = row[from] ?? null
    record[name] = isInteger && typeof value !== 'number' && value !== null ? Number(value) : value
  }
  return record as unknown as Records[Name]
}

interface ReadColumn {
  readonly name: string
  readonly from: string
  readonly isInteger: boolean
}

const READ: Partial<Record<TableName, Map<string, readonly ReadColumn[]>>> = {}

function readColumns(table: TableName, prefix: string): readonly ReadColumn[] {
  READ[table] ??= new Map()
  const found = READ[table].get(prefix)
  if (found) return found
  const { columns }: Table = TABLES[table]
  const made = Object.entries(columns).map(([name, { kind }]) => {
    return { name, from: prefix + name, isInteger: isNumber(kind) }
  })
  READ[table].set(prefix, made)
  return made
}
