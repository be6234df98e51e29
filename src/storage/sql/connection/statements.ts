import { statusText } from '../dispatches/dispatch-status.ts'
import type { NameTable } from '../schema/name-table.ts'
import type { TableName } from '../schema/records.ts'
import type { Column, Table } from '../schema/table.ts'
import { TABLES } from '../schema/tables.ts'
import type { ChangeKind, TableChange } from './changes.ts'
import type { Dialect } from './dialects.ts'
import { tableAlong } from './look-ups.ts'

/** Stands for the time of the statement, where one is written down beforehand. */
export const NOW = '{now}'

/** A change as SQL: of its rows as a JSON array in one parameter, or of so many rows of parameters. */
export function changeText(change: TableChange, dialect: Dialect, nameOf: NameTable, parameter: string): string {
  const { kind } = change
  const name = nameOf(change.table)
  const columns = WRITTEN[kind][change.table]
  const names = columns.map(([column]) => dialect.quote(column)).join(', ')
  if (!dialect.givesValues) {
    const rows = dialect.rows(parameter, Object.fromEntries(columns), 'x')
    if (kind === 'insert') return `insert into ${name} (${names}) select ${names} from ${rows}`
    return TEXTS[kind](change, dialect, nameOf, rows)
  }
  const row = `(${columns.map(() => '?').join(', ')})`
  const values = `values ${Array(change.rows.length).fill(row).join(', ')}`
  if (kind === 'insert') return `insert into ${name} (${names}) ${values}`
  return `with x (${names}) as (${values}) ${TEXTS[kind](change, dialect, nameOf, 'x')}`
}

/** The parameters of that text. */
export function changeParameters(change: TableChange, dialect: Dialect): readonly unknown[] {
  if (!dialect.givesValues) return [rowsOf(change, dialect)]
  const columns = WRITTEN[change.kind][change.table]
  return change.rows.flatMap((row) => columns.map(([name]) => row[name] ?? null))
}

/** So many rows a statement has at most that has parameters for each: SQLite takes 32,766 parameters. */
const ROWS = 512

/** A change in as many parts as it takes statements: of 1, 2, 4, 8 … rows, so that few texts do for all, and can be kept prepared. */
export function partsOf(change: TableChange, { givesValues }: Dialect): readonly TableChange[] {
  const { kind, table, rows } = change
  if (!givesValues) return [change]
  const parts: TableChange[] = []
  for (let at = 0; at < rows.length; at += parts.at(-1)?.rows.length ?? 1) {
    const size = Math.min(ROWS, 2 ** Math.floor(Math.log2(rows.length - at)))
    parts.push({ kind, table, rows: rows.slice(at, at + size) })
  }
  return parts
}

/** The rows of a change as JSON: what is absent of a row is not named in it. */
export function rowsOf({ kind, table, rows }: TableChange, { nestsJson }: Dialect): string {
  const written = WRITTEN[kind][table]
  function textOf(row: TableChange['rows'][number]): string {
    let text = ''
    for (const [name, column] of written) {
      const value = row[name]
      if (value === null || value === undefined) continue
      text += `,"${name}":`
      const isNested = nestsJson && column.kind === 'json' && isPlainJson(value)
      text += isNested || typeof value === 'number' ? value : JSON.stringify(value)
    }
    return `{${text.slice(1)}}`
  }
  return `[${rows.map(textOf).join(',')}]`
}

/** An array or an object within which there is nothing that a database would refuse to read. */
function isPlainJson(json: unknown): boolean {
  return typeof json === 'string' && /^[[{]/.test(json) && !json.includes('\\u')
}

type WriteText = (change: TableChange, dialect: Dialect, nameOf: NameTable, given: string) => string

/**
 * The given rows lead, and each finds its own by the primary key: a planner that takes the table for empty would read all of it
 * instead. PostgreSQL is first asked where they are.
 */
const TEXTS: Readonly<Record<'update' | 'remove' | 'count', WriteText>> = {
  update(change, dialect, nameOf, given) {
    const table: Table = TABLES[change.table]
    const changed = Object.entries(table.columns).filter(([, { fixed }]) => !fixed)
    const sets = changed.map(([column, { kept }]) => {
      const target = dialect.updatesFrom ? dialect.quote(column) : `d.${dialect.quote(column)}`
      if (column === 'version') return `${target} = d.version + 1`
      const value = `x.${dialect.quote(column)}`
      return `${target} = ${kept ? `coalesce(${value}, d.${dialect.quote(column)})` : value}`
    })
    const same = isSame(table, dialect, 'd')
    const target = tableAlong({ table: change.table, alias: 'd' }, dialect, nameOf)
    if (dialect.hasLateral) {
      const found = placed(change, 'x.*', dialect, nameOf, given)
      return `update ${nameOf(change.table)} as d set ${sets.join(', ')} from (${found}) x where ${FOUND}`
    }
    return dialect.updatesFrom
      ? `update ${target} set ${sets.join(', ')} from ${given} where ${same}`
      : `update ${given} straight_join ${target} on ${same} set ${sets.join(', ')}`
  },
  count(change, dialect, nameOf, given) {
    const table: Table = TABLES[change.table]
    const counts = Object.entries(table.columns).filter(([, { counted }]) => counted)
    const target = dialect.updatesFrom ? '' : 'd.'
    // The status goes first: some databases go by the counts that are set before it.
    const sets = [`${target}status = ${statusText('d', 'x')}`]
      .concat(counts.map(([column]) => `${target}${column} = d.${column} + x.${column}`))
      .concat(`${target}version = d.version + 1`)
      .join(', ')
    const same = table.primaryKey.map((column) => `d.${column} = x.${column}`).join(' and ')
    if (dialect.hasLateral) {
      // Additions of others do not matter: the row is found by its key alone, in whatever version.
      const found = table.primaryKey.map((column) => `d.${column} = any (array(select x.${column} from ${given}))`)
      return `update ${nameOf(change.table)} as d set ${sets} from ${given} where ${same} and ${found.join(' and ')}`
    }
    const rows = tableAlong({ table: change.table, alias: 'd' }, dialect, nameOf)
    return dialect.updatesFrom
      ? `update ${rows} set ${sets} from ${given} where ${same}`
      : `update ${given} straight_join ${rows} on ${same} set ${sets}`
  },
  remove(change, dialect, nameOf, given) {
    const table: Table = TABLES[change.table]
    const target = tableAlong({ table: change.table, alias: 'd' }, dialect, nameOf)
    if (dialect.hasLateral)
      return `delete from ${nameOf(change.table)} as d using (${placed(change, 'x.version', dialect, nameOf, given)}) x where ${FOUND}`
    if (!dialect.updatesFrom) return `delete d from ${given} straight_join ${target} on ${isSame(table, dialect, 'd')}`
    const known = (of: string): string =>
      [...table.primaryKey, 'version'].map((column) => `${of}.${dialect.quote(column)}`).join(', ')
    return `delete from ${target} where (${known('d')}) in (select ${known('x')} from ${given})`
  },
}

/** The version is compared once more: what another changed in between is looked at again where it is then. */
const FOUND = 'd.ctid = x.found_at and d.version = x.version'

/** The given rows whose row is as it was read, and where that row is. */
function placed({ table }: TableChange, columns: string, dialect: Dialect, nameOf: NameTable, given: string): string {
  const found = `select o.ctid as found_at from ${nameOf(table)} o where ${isSame(TABLES[table], dialect, 'o')} offset 0`
  return `select ${columns}, o.found_at from ${given} cross join lateral (${found}) o`
}

function isSame({ primaryKey, compared = [] }: Table, dialect: Dialect, of: string): string {
  const sides = (column: string): [string, string] => [`${of}.${dialect.quote(column)}`, `x.${dialect.quote(column)}`]
  return [...primaryKey, 'version']
    .map((column) => (compared.includes(column) ? dialect.same(...sides(column)) : sides(column).join(' = ')))
    .join(' and ')
}

function isKey({ primaryKey }: Table, column: string): boolean {
  return primaryKey.includes(column)
}

type Wanted = (name: string, column: Column) => boolean

function isUpdated(table: Table): Wanted {
  return (name, { fixed }) => !fixed || isKey(table, name)
}

/** What a row that is removed is known by. */
function isLeaseToken(table: Table): Wanted {
  return (name) => isKey(table, name) || name === 'version'
}

/** What counts are added to, and the row they belong to. */
function isCounted(table: Table): Wanted {
  return (name, { counted }) => counted === true || isKey(table, name)
}

type Columns = readonly (readonly [name: string, column: Column])[]

/** The columns that a change tells of. */
const WRITTEN: Readonly<Record<ChangeKind, Readonly<Record<TableName, Columns>>>> = {
  insert: columnsIn(() => () => true),
  update: columnsIn(isUpdated),
  remove: columnsIn(isLeaseToken),
  count: columnsIn(isCounted),
}

function columnsIn(wanted: (table: Table) => Wanted): Readonly<Record<TableName, Columns>> {
  const tables = Object.entries<Table>(TABLES).map(([name, table]) => {
    const columns = Object.entries(table.columns).filter(([column, kept]) => wanted(table)(column, kept))
    return [name, columns]
  })
  return Object.fromEntries(tables)
}
