import {
  type Column,
  type Index,
  id,
  key,
  nullable,
  type Table,
  version,
} from '../../../src/storage/sql/schema/columns.ts'
import type { Schema } from '../../../src/storage/sql/schema/migrations.ts'

/** The schema of a made-up next version: a column of two tables, an index and a table more. */
export function grown({ names, tables }: Schema): Schema {
  const since = names.length + 1
  const more = (table: Table | undefined, columns: Record<string, Column>, indexes: readonly Index[] = []): Table => {
    if (!table) throw new Error('the schema has no such table')
    return { ...table, columns: { ...table.columns, ...columns }, indexes: [...table.indexes, ...indexes] }
  }
  const column: Column = { ...nullable(key), since }
  return {
    names: [...names, `${String(since).padStart(4, '0')}_next`],
    tables: {
      ...tables,
      dispatches: more(tables.dispatches, { next_origin: column }),
      jobs: more(tables.jobs, { next_hint: column }, [{ name: 'next', columns: ['channel', 'next_hint'], since }]),
      next_records: {
        columns: { record_id: id, note: nullable(key), version },
        primaryKey: ['record_id'],
        indexes: [{ name: 'by_note', columns: ['note'] }],
        since,
      },
    },
  }
}
