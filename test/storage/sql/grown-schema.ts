import { type Column, columnOf } from '../../../src/storage/engine/columns.ts'
import type { Schema } from '../../../src/storage/sql/schema/migrations.ts'
import type { Index, Table } from '../../../src/storage/sql/tables/tables.ts'

/** The schema of a made-up next version: a column of two tables, an index and a table more. */
export function grown({ names, tables }: Schema): Schema {
  const since = names.length + 1
  const more = (table: Table | undefined, columns: Record<string, Column>, indexes: readonly Index[] = []): Table => {
    if (!table) throw new Error('the schema has no such table')
    return { ...table, columns: { ...table.columns, ...columns }, indexes: [...table.indexes, ...indexes] }
  }
  const column = columnOf(`key optional since ${since}`)
  return {
    names: [...names, `${String(since).padStart(4, '0')}_next`],
    tables: {
      ...tables,
      dispatches: more(tables.dispatches, { next_origin: column }),
      jobs: more(tables.jobs, { next_hint: column }, [{ name: 'next', columns: ['channel', 'next_hint'], since }]),
      next_records: {
        columns: { record_id: columnOf('id'), note: columnOf('key optional'), version: columnOf('integer') },
        primaryKey: ['record_id'],
        hasRivals: false,
        indexes: [{ name: 'by_note', columns: ['note'], since }],
        since,
      },
    },
  }
}
