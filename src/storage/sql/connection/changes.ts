import type { DispatchCounts } from '../dispatches/dispatch-status.ts'
import type { Records, TableName } from '../schema/records.ts'
import type { Table } from '../schema/table.ts'
import { TABLES } from '../schema/tables.ts'

type Row = Readonly<Record<string, unknown>>

/**
 * What becomes of rows of a table. A row that is updated or removed must still have the version that is given. `count` adds to
 * the counts of a dispatch, whatever its version: two that count at the same time do not conflict.
 */
export type ChangeKind = 'insert' | 'update' | 'remove' | 'count'

/** One kind of change to one table. */
export interface TableChange {
  readonly kind: ChangeKind
  readonly table: TableName
  readonly rows: readonly Row[]
}

/** What is to be written, all of it or nothing. */
export interface Changes {
  insert<Name extends TableName>(table: Name, row: Records[Name]): void
  /** @param row With the version that it had when it was read. */
  update<Name extends TableName>(table: Name, row: Records[Name]): void
  /** @param row Its key, and the version that it had when it was read. */
  remove<Name extends TableName>(table: Name, row: Partial<Records[Name]>): void
  /** @param row Its key, and what is added to each count. */
  count(row: DispatchCounts & Pick<Records['dispatches'], 'dispatch_id'>): void
  /** In the order in which tables are always written, so that two writers do not wait for one another. */
  list(): readonly TableChange[]
}

const ORDER = Object.keys(TABLES)

export function newChanges(): Changes {
  const byKey = new Map<string, { kind: ChangeKind; table: TableName; rows: Row[] }>()

  function add(kind: ChangeKind, table: TableName, row: Row): void {
    const key = `${table} ${kind}`
    const found = byKey.get(key)
    if (found) found.rows.push(row)
    else byKey.set(key, { kind, table, rows: [row] })
  }

  return {
    insert: (table, row) => add('insert', table, row as unknown as Row),
    update: (table, row) => add('update', table, row as unknown as Row),
    remove: (table, row) => add('remove', table, row as unknown as Row),
    count: (row) => add('count', 'dispatches', row as unknown as Row),
    list() {
      const list = [...byKey.values()].sort((one, other) => ORDER.indexOf(one.table) - ORDER.indexOf(other.table))
      for (const { table, rows } of list) rows.sort(byPrimaryKey(table))
      return list
    },
  }
}

/** Two that lock several rows do so in the same order. */
function byPrimaryKey(table: TableName): (one: Row, other: Row) => number {
  const { primaryKey }: Table = TABLES[table]
  return (one, other) => {
    for (const column of primaryKey) {
      const [first, second] = [String(one[column]), String(other[column])]
      if (first !== second) return first < second ? -1 : 1
    }
    return 0
  }
}

/**
 * The version that a row begins with. One that is removed and made again does not come to the same versions: who read the one
 * cannot take the other for it.
 */
export function firstVersion(): number {
  return Math.floor(Math.random() * 2 ** 50) + 1
}
