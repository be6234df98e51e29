import type { Column, Table } from '../schema/columns.ts'
import type { ChangeKind, Records, TableName } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'
import { type Dialect, type NameTable, sameEach, tableAlong } from './dialects.ts'

/** Optimistic concurrency: a row has another version than the one that was read. Nothing is written, and the work is retried. */
export class Conflict extends Error {}

/** A high limit: every conflict means that another writer succeeded. */
const TRIES = 100
const LONGEST_PAUSE_MS = 20

export async function retryOnConflict<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await attempt()
    } catch (cause) {
      if (!(cause instanceof Conflict) || tries >= TRIES) throw cause
      await pause(tries)
    }
  }
}

/** Random pause that grows with each try, so that conflicting writers separate. */
export async function pause(tries: number): Promise<void> {
  const ms = Math.random() * Math.min(tries, LONGEST_PAUSE_MS)
  await new Promise<void>((resolve) => void setTimeout(resolve, ms))
}

/** Placeholder for the time of the statement. */
export const NOW = '{now}'

type Row = Readonly<Record<string, unknown>>

export interface TableChange {
  readonly kind: ChangeKind
  readonly table: TableName
  readonly rows: readonly Row[]
}

export interface Changes {
  insert<Name extends TableName>(table: Name, row: Records[Name]): void
  /**
   * @param row With the version that was read.
   * @param was In a table with a {@link Table.moved} column: its value before.
   */
  update<Name extends TableName>(table: Name, row: Records[Name], was?: string): void
  /** @param row Its key and the version that was read. */
  remove<Name extends TableName>(table: Name, row: Partial<Records[Name]>): void
  /** @param row Its key and the version that was read. */
  compare<Name extends TableName>(table: Name, row: Partial<Records[Name]>): void
  /** Sorted by table and primary key: all writers lock rows in the same order. */
  list(): readonly TableChange[]
}

const ORDER = Object.keys(TABLES)

export function newChanges(): Changes {
  const byKey = new Map<string, { kind: ChangeKind; table: TableName; rows: Row[] }>()

  function add(kind: ChangeKind, table: TableName, row: unknown): void {
    const key = `${table} ${kind}`
    const found = byKey.get(key)
    if (found) found.rows.push(row as Row)
    else byKey.set(key, { kind, table, rows: [row as Row] })
  }

  return {
    insert: (table, row) => add('insert', table, row),
    update: (table, row, was) => add('update', table, was === undefined ? row : { ...row, was }),
    remove: (table, row) => add('remove', table, row),
    compare: (table, row) => add('compare', table, row),
    list() {
      const list = [...byKey.values()].sort((one, other) => ORDER.indexOf(one.table) - ORDER.indexOf(other.table))
      for (const { table, rows } of list) rows.sort(byPrimaryKey(table))
      return list
    },
  }
}

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

/** Random, so that a row that is removed and inserted again never repeats a version. */
export function firstVersion(): number {
  return Math.floor(Math.random() * 2 ** 50) + 1
}

/** Makes rows with these columns, under the name `x`. */
type MakeRows = (columns: Readonly<Record<string, Column>>) => string

/** @param makeRows Default: from the first parameter, by {@link changeParameters}. */
export function changeText(
  change: TableChange,
  dialect: Dialect,
  nameOf: NameTable,
  makeRows: MakeRows = (columns) => dialect.rows(dialect.parameter(1), columns, 'x'),
): string {
  const { kind } = change
  const name = nameOf(change.table)
  const columns = WRITTEN[kind][change.table]
  const names = columns.map(([column]) => dialect.quote(column)).join(', ')
  if (!dialect.values.of.includes(kind)) {
    const rows = makeRows(Object.fromEntries(columns))
    if (kind === 'insert') return `insert into ${name} (${names}) select ${names} from ${rows}`
    return TEXTS[kind](change, dialect, nameOf, rows)
  }
  const row = `(${columns.map(() => '?').join(', ')})`
  const values = `values ${Array(change.rows.length).fill(row).join(', ')}`
  if (kind === 'insert') return `insert into ${name} (${names}) ${values}`
  return `with x (${names}) as (${values}) ${TEXTS[kind](change, dialect, nameOf, 'x')}`
}

export function changeParameters(change: TableChange, dialect: Dialect): readonly unknown[] {
  if (!dialect.values.of.includes(change.kind)) return [jsonOf(change)]
  const columns = WRITTEN[change.kind][change.table]
  return change.rows.flatMap((row) => columns.map(([name]) => row[name] ?? null))
}

/** Keeps a statement with one parameter per value below SQLite's limit of 32,766. */
const MAX_ROWS = 512

/** Splits a change into statements of few rows; where drivers keep them prepared, of 1, 2, 4, 8 … rows. */
export function partsOf(change: TableChange, { values }: Dialect): readonly TableChange[] {
  const { kind, table, rows } = change
  if (!values.of.includes(kind)) return [change]
  const parts: TableChange[] = []
  for (let at = 0; at < rows.length; at += parts.at(-1)?.rows.length ?? 1) {
    const left = rows.length - at
    const size = Math.min(MAX_ROWS, values.bySize ? 2 ** Math.floor(Math.log2(left)) : left)
    parts.push({ kind, table, rows: rows.slice(at, at + size) })
  }
  return parts
}

function jsonOf({ kind, table, rows }: TableChange): string {
  const names = WRITTEN[kind][table].map(([name]) => name)
  return JSON.stringify(rows, names)
}

/** All values, row by row, as the text of an array: the functions of PostgreSQL read it faster than JSON. */
export function arrayOf({ kind, table, rows }: TableChange): string {
  const columns = WRITTEN[kind][table]
  let text = ''
  for (const row of rows) {
    for (const [name] of columns) {
      const value = row[name]
      text += text === '' ? '{' : ','
      text += typeof value === 'string' ? `"${escaped(value)}"` : (value ?? 'null')
    }
  }
  return `${text}}`
}

/** Faster than one regular expression: most texts are ids, and JSON has many quotes. */
function escaped(text: string): string {
  const whole = text.includes('\\') ? text.replaceAll('\\', '\\\\') : text
  return whole.includes('"') ? whole.replaceAll('"', '\\"') : whole
}

type WriteText = (change: TableChange, dialect: Dialect, nameOf: NameTable, given: string) => string

/** Each given row looks up its row by primary key. With statistics of an empty table, a planner would otherwise scan the table. */
const TEXTS: Readonly<Record<Exclude<ChangeKind, 'insert'>, WriteText>> = {
  update(change, dialect, nameOf, given) {
    const table: Table = TABLES[change.table]
    const sets = Object.entries(table.columns)
      .filter(([, { fixed }]) => !fixed)
      .map(([name, { kept }]) => {
        const column = dialect.quote(name)
        const target = dialect.updatesFrom ? column : `d.${column}`
        if (name === 'version') return `${target} = d.version + 1`
        return `${target} = ${kept ? `coalesce(x.${column}, d.${column})` : `x.${column}`}`
      })
      .join(', ')
    const same = (of: string): string => isSame(table, dialect, of, table.moved)
    if (!dialect.hasLateral) return joinedUpdate(change, sets, same('d'), dialect, nameOf, given)
    const found = placed(change, 'x.*', same('o'), nameOf, given)
    return `update ${nameOf(change.table)} as d set ${sets} from (${found}) x where ${FOUND}`
  },
  remove(change, dialect, nameOf, given) {
    const table: Table = TABLES[change.table]
    const target = tableAlong({ table: change.table, alias: 'd' }, dialect, nameOf)
    if (dialect.hasLateral) {
      const found = placed(change, 'x.version', isSame(table, dialect, 'o'), nameOf, given)
      return `delete from ${nameOf(change.table)} as d using (${found}) x where ${FOUND}`
    }
    if (!dialect.updatesFrom) return `delete d from ${given} straight_join ${target} on ${isSame(table, dialect, 'd')}`
    // By `rowid`: with `in` over the primary key, SQLite may search by its leading columns alone.
    const found = `select d.rowid from ${given} ${dialect.straightJoin} ${target} on ${isSame(table, dialect, 'd')}`
    return `delete from ${nameOf(change.table)} where rowid in (${found})`
  },
  compare(change, dialect, nameOf, given) {
    const same = (of: string): string => isSame(TABLES[change.table], dialect, of)
    if (dialect.hasLateral) return `perform 1 from (${placed(change, 'x.version', same('o'), nameOf, given)}) x`
    const target = tableAlong({ table: change.table, alias: 'd' }, dialect, nameOf)
    return `select count(*) as found from ${given} ${dialect.straightJoin} ${target} on ${same('d')}${dialect.readsLatest}`
  },
}

function joinedUpdate(
  { table }: TableChange,
  sets: string,
  same: string,
  dialect: Dialect,
  nameOf: NameTable,
  given: string,
): string {
  const target = tableAlong({ table, alias: 'd' }, dialect, nameOf)
  return dialect.updatesFrom
    ? `update ${target} set ${sets} from ${given} where ${same}`
    : `update ${given} straight_join ${target} on ${same} set ${sets}`
}

/** Compares the version again: a concurrent change of the row is a conflict. */
const FOUND = 'd.ctid = x.found_at and d.version = x.version'

/** The given rows that still have their version, with their `ctid`. */
function placed({ table }: TableChange, columns: string, same: string, nameOf: NameTable, given: string): string {
  const found = `select o.ctid as found_at from ${nameOf(table)} o where ${same} offset 0`
  return `select ${columns}, o.found_at from ${given} cross join lateral (${found}) o`
}

/**
 * @param columns The leading columns of the primary key. The row to find them in is `x`.
 * @param moved The column whose value before is `was` in that row.
 */
export function sameKey(
  table: Pick<Table, 'hasRivals'>,
  columns: readonly string[],
  dialect: Dialect,
  of: string,
  moved?: string,
): string {
  const own = columns.map((column) => `${of}.${dialect.quote(column)}`)
  const given = columns.map((column) => `x.${dialect.quote(column === moved ? WAS : column)}`)
  return (table.hasRivals ? dialect.sameRow : sameEach)(own, given)
}

function isSame(table: Table, dialect: Dialect, of: string, moved?: string): string {
  return `${sameKey(table, table.primaryKey, dialect, of, moved)} and ${of}.version = x.version`
}

const WAS = 'was'

type Columns = readonly (readonly [name: string, column: Column])[]

/** Columns that each kind of change writes, besides the primary key. */
const WRITTEN: Readonly<Record<ChangeKind, Readonly<Record<TableName, Columns>>>> = {
  insert: columnsIn(() => true),
  update: withMoved(columnsIn((name, { fixed }) => !fixed || name === 'version')),
  remove: columnsIn((name) => name === 'version'),
  compare: columnsIn((name) => name === 'version'),
}

function columnsIn(wanted: (name: string, column: Column) => boolean): Readonly<Record<TableName, Columns>> {
  const tables = Object.entries<Table>(TABLES).map(([table, { columns, primaryKey }]) => [
    table,
    Object.entries(columns).filter(([name, column]) => wanted(name, column) || primaryKey.includes(name)),
  ])
  return Object.fromEntries(tables)
}

function withMoved(written: Readonly<Record<TableName, Columns>>): Readonly<Record<TableName, Columns>> {
  const tables = Object.entries<Columns>(written).map(([name, columns]) => {
    const { moved, columns: all }: Table = TABLES[name as TableName]
    const before = moved && all[moved]
    return [name, before ? [...columns, [WAS, before]] : columns]
  })
  return Object.fromEntries(tables)
}
