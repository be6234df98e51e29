import type { Column } from '../../engine/columns.ts'
import { KIND_NAMES, type Kind } from '../../engine/kinds.ts'
import type { Change } from '../../engine/records.ts'
import { type Dialect, type NameTable, sameEach, tableAlong } from '../dialects/dialects.ts'
import type { Row } from '../tables/record-columns.ts'
import { type ColumnType, TABLES, type Table } from '../tables/tables.ts'

/** Changes of one kind of the rows of one table. */
export interface TableChange {
  readonly do: Change['do']
  readonly kind: Kind
  readonly rows: readonly Row[]
}

/** Makes rows with these columns, under the name `x`. */
type MakeRows = (columns: Readonly<Record<string, ColumnType>>) => string

/** @param makeRows Default: from the first parameter, by {@link changeParameters}. */
export function changeText(
  change: TableChange,
  dialect: Dialect,
  nameOf: NameTable,
  makeRows: MakeRows = (columns) => dialect.rows(dialect.parameter(1), columns, 'x'),
): string {
  const { do: what, kind } = change
  const name = nameOf(kind)
  const columns = WRITTEN[what][kind]
  const names = columns.map(([column]) => dialect.quote(column)).join(', ')
  if (!dialect.values.of.includes(what)) {
    const rows = makeRows(Object.fromEntries(columns))
    if (what === 'insert') return `insert into ${name} (${names}) select ${names} from ${rows}`
    return TEXTS[what](change, dialect, nameOf, rows)
  }
  const row = `(${columns.map(() => '?').join(', ')})`
  const values = `values ${Array(change.rows.length).fill(row).join(', ')}`
  if (what === 'insert') return `insert into ${name} (${names}) ${values}`
  return `with x (${names}) as (${values}) ${TEXTS[what](change, dialect, nameOf, 'x')}`
}

export function changeParameters(change: TableChange, dialect: Dialect): readonly unknown[] {
  if (!dialect.values.of.includes(change.do)) return [jsonOf(change)]
  const columns = WRITTEN[change.do][change.kind]
  return change.rows.flatMap((row) => columns.map(([name]) => row[name] ?? null))
}

/** Keeps a statement with one parameter per value below SQLite's limit of 32,766. */
const MAX_ROWS = 512

/** Splits a change into statements of few rows; where drivers keep them prepared, of 1, 2, 4, 8 … rows. */
export function partsOf(change: TableChange, { values }: Dialect): readonly TableChange[] {
  const { rows } = change
  if (!values.of.includes(change.do)) return [change]
  const parts: TableChange[] = []
  for (let at = 0; at < rows.length; at += parts.at(-1)?.rows.length ?? 1) {
    const left = rows.length - at
    const size = Math.min(MAX_ROWS, values.bySize ? 2 ** Math.floor(Math.log2(left)) : left)
    parts.push({ ...change, rows: rows.slice(at, at + size) })
  }
  return parts
}

function jsonOf({ do: what, kind, rows }: TableChange): string {
  const names = WRITTEN[what][kind].map(([name]) => name)
  return JSON.stringify(rows, names)
}

/** All values, row by row, as the text of an array: the functions of PostgreSQL read it faster than JSON. */
export function arrayOf({ do: what, kind, rows }: TableChange): string {
  const columns = WRITTEN[what][kind]
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
const TEXTS: Readonly<Record<Exclude<Change['do'], 'insert'>, WriteText>> = {
  update(change, dialect, nameOf, given) {
    const table = TABLES[change.kind]
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
    return `update ${nameOf(change.kind)} as d set ${sets} from (${found}) x where ${FOUND}`
  },
  remove(change, dialect, nameOf, given) {
    const table = TABLES[change.kind]
    const target = tableAlong({ table: change.kind, alias: 'd' }, dialect, nameOf)
    if (dialect.hasLateral) {
      const found = placed(change, 'x.version', isSame(table, dialect, 'o'), nameOf, given)
      return `delete from ${nameOf(change.kind)} as d using (${found}) x where ${FOUND}`
    }
    if (!dialect.updatesFrom) return `delete d from ${given} straight_join ${target} on ${isSame(table, dialect, 'd')}`
    // By `rowid`: with `in` over the primary key, SQLite may search by its leading columns alone.
    const found = `select d.rowid from ${given} ${dialect.straightJoin} ${target} on ${isSame(table, dialect, 'd')}`
    return `delete from ${nameOf(change.kind)} where rowid in (${found})`
  },
  compare(change, dialect, nameOf, given) {
    const same = (of: string): string => isSame(TABLES[change.kind], dialect, of)
    if (dialect.hasLateral) return `perform 1 from (${placed(change, 'x.version', same('o'), nameOf, given)}) x`
    const target = tableAlong({ table: change.kind, alias: 'd' }, dialect, nameOf)
    return `select count(*) as found from ${given} ${dialect.straightJoin} ${target} on ${same('d')}${dialect.readsLatest}`
  },
}

function joinedUpdate(
  { kind }: TableChange,
  sets: string,
  same: string,
  dialect: Dialect,
  nameOf: NameTable,
  given: string,
): string {
  const target = tableAlong({ table: kind, alias: 'd' }, dialect, nameOf)
  return dialect.updatesFrom
    ? `update ${target} set ${sets} from ${given} where ${same}`
    : `update ${given} straight_join ${target} on ${same} set ${sets}`
}

/** Compares the version again: a concurrent change of the row is a conflict. */
const FOUND = 'd.ctid = x.found_at and d.version = x.version'

/** The given rows that still have their version, with their `ctid`. */
function placed({ kind }: TableChange, columns: string, same: string, nameOf: NameTable, given: string): string {
  const found = `select o.ctid as found_at from ${nameOf(kind)} o where ${same} offset 0`
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
const WRITTEN: Readonly<Record<Change['do'], Readonly<Record<Kind, Columns>>>> = {
  insert: columnsIn(() => true),
  update: withMoved(columnsIn((name, { fixed }) => !fixed || name === 'version')),
  remove: columnsIn((name) => name === 'version'),
  compare: columnsIn((name) => name === 'version'),
}

function columnsIn(wanted: (name: string, column: Column) => boolean): Readonly<Record<Kind, Columns>> {
  return forKinds(({ columns, primaryKey }) =>
    Object.entries(columns).filter(([name, column]) => wanted(name, column) || primaryKey.includes(name)),
  )
}

function withMoved(written: Readonly<Record<Kind, Columns>>): Readonly<Record<Kind, Columns>> {
  return forKinds(({ moved, columns }, kind) => {
    const before = moved === undefined ? undefined : columns[moved]
    return before ? [...written[kind], [WAS, before]] : written[kind]
  })
}

function forKinds(columnsOf: (table: Table, kind: Kind) => Columns): Readonly<Record<Kind, Columns>> {
  return Object.fromEntries(KIND_NAMES.map((kind) => [kind, columnsOf(TABLES[kind], kind)])) as Record<Kind, Columns>
}
