import type { JsonColumn } from '../../engine/json-values.ts'
import type { Database } from '../connection/database.ts'
import { pagesOf } from '../connection/table-pages.ts'
import type { TableName } from '../schema/records.ts'
import { decode, JSON_COLUMNS } from '../schema/stored-json.ts'
import { TABLES } from '../schema/tables.ts'

/** A stored record that cannot be read. */
export interface UnreadableRecord {
  /** Name without the prefix, such as `states`. */
  readonly table: string
  readonly column: string
  /** Primary key. May contain ids of recipients and users. */
  readonly key: Readonly<Record<string, string | number>>
  /** The stored text. May contain personal data. */
  readonly text: string
  /** A repair changes nothing once the record has another version. */
  readonly version: number
}

type AnyRecord = Readonly<Record<string, string | number | null>>

/** Reads all texts of JSON. */
export async function* findUnreadable(db: Database): AsyncGenerator<UnreadableRecord> {
  for (const [table, columns] of columnsByTable()) {
    for await (const records of pagesOf(table, columns, db))
      for (const record of records as unknown as readonly AnyRecord[])
        for (const column of columns) {
          const text = record[column]
          if (typeof text !== 'string' || decode(`${table}.${column}` as JsonColumn, text) !== undefined) continue
          yield { table, column, key: keyOf(table, record), text, version: Number(record.version) }
        }
  }
}

function columnsByTable(): ReadonlyMap<TableName, readonly string[]> {
  const columns = new Map<TableName, string[]>()
  for (const name of JSON_COLUMNS) {
    const [table, column = ''] = name.split('.') as [TableName, string]
    columns.set(table, [...(columns.get(table) ?? []), column])
  }
  return columns
}

function keyOf(table: TableName, record: AnyRecord): UnreadableRecord['key'] {
  return Object.fromEntries(TABLES[table].primaryKey.map((name) => [name, record[name] ?? '']))
}
