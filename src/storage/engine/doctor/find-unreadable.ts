import { Unreadable } from '../json-values.ts'
import { declarationOf, jsonColumnsOf, KIND_NAMES, type Kind, type RecordOf } from '../kinds.ts'
import { scanAll } from '../pages.ts'
import type { Records, Value } from '../records.ts'

/** A stored record that cannot be read. */
export interface UnreadableRecord {
  /** Name without the prefix, such as `states`. */
  readonly table: string
  readonly column: string
  /** Primary key. May contain ids of recipients and users. */
  readonly key: Readonly<Record<string, Value>>
  /** The stored text. May contain personal data. */
  readonly text: string
  /** A repair changes nothing once the record has another version. */
  readonly version: number
}

/** Reads all texts of JSON. */
export async function* findUnreadable(records: Records): AsyncGenerator<UnreadableRecord> {
  for (const kind of KIND_NAMES) {
    const columns = jsonColumnsOf(kind)
    if (columns.length === 0) continue
    for await (const record of scanAll(records, { kind, with: [[]], columns: [...columns, 'version'] }))
      for (const column of columns) {
        const text = unreadableText(record, column)
        if (text !== undefined) yield { table: kind, column, key: keyOf(kind, record), text, version: record.version }
      }
  }
}

/** The text of a column that cannot be read. */
export function unreadableText(record: RecordOf<Kind>, column: string): string | undefined {
  const value: unknown = record[column as keyof typeof record]
  return value instanceof Unreadable ? value.text : undefined
}

function keyOf(kind: Kind, record: RecordOf<Kind>): UnreadableRecord['key'] {
  const values = record as unknown as UnreadableRecord['key']
  return Object.fromEntries(declarationOf(kind).key.map((name) => [name, values[name] ?? '']))
}
