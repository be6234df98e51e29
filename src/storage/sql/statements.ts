import type { ChangeKind, TableChange } from './changes.ts'
import type { Dialect } from './dialects.ts'
import type { TableName } from './records.ts'
import { type Column, TABLES, type Table } from './tables.ts'

/** Stands for the time of the statement, where one is written down beforehand. */
export const NOW = '{now}'

/** The names of a store's tables. */
export type NameTable = (table: TableName) => string

export function tableNames(dialect: Dialect, prefix: string): NameTable {
  return (table) => dialect.quote(`${prefix}${table}`)
}

/** A change as SQL, with one parameter: the rows, as a JSON array. */
export function changeText(change: TableChange, dialect: Dialect, nameOf: NameTable, parameter: string): string {
  const table: Table = TABLES[change.table]
  const name = nameOf(change.table)
  if (change.kind === 'insert') return insertText(table, name, dialect, parameter)
  return change.kind === 'update'
    ? updateText(table, name, dialect, parameter)
    : removeText(table, name, dialect, parameter)
}

/** The rows of a change, as its parameter has them: what is absent of a row is not named in it. */
export function rowsOf({ kind, table, rows }: TableChange, { nestsJson }: Dialect): string {
  const written = WRITTEN[kind][table]
  const { columns }: Table = TABLES[table]
  function textOf(row: TableChange['rows'][number]): string {
    let text = ''
    for (const name of written) {
      const value = row[name]
      if (value === null) continue
      text += `,"${name}":`
      const isNested = nestsJson && columns[name]?.kind === 'json' && isPlainJson(value)
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

function insertText({ columns }: Table, name: string, dialect: Dialect, parameter: string): string {
  const names = Object.keys(columns).map(dialect.quote).join(', ')
  return `insert into ${name} (${names}) select ${names} from ${dialect.rows(parameter, columns, 'x')}`
}

function updateText(table: Table, name: string, dialect: Dialect, parameter: string): string {
  const changed = pick(table, isUpdated(table))
  const sets = Object.entries(pick(table, (_, { fixed }) => !fixed)).map(([column, { kept }]) => {
    const target = dialect.updatesFrom ? dialect.quote(column) : `d.${dialect.quote(column)}`
    if (column === 'version') return `${target} = d.version + 1`
    const value = `x.${dialect.quote(column)}`
    return `${target} = ${kept ? `coalesce(${value}, d.${dialect.quote(column)})` : value}`
  })
  const rows = dialect.rows(parameter, changed, 'x')
  const same = isSame(table, dialect)
  return dialect.updatesFrom
    ? `update ${name} as d set ${sets.join(', ')} from ${rows} where ${same}`
    : `update ${name} as d join ${rows} on ${same} set ${sets.join(', ')}`
}

function removeText(table: Table, name: string, dialect: Dialect, parameter: string): string {
  const rows = dialect.rows(parameter, pick(table, isProof(table)), 'x')
  const same = isSame(table, dialect)
  if (!dialect.updatesFrom) return `delete d from ${name} as d join ${rows} on ${same}`
  const known = (of: string): string =>
    [...table.primaryKey, 'version'].map((column) => `${of}.${dialect.quote(column)}`).join(', ')
  return `delete from ${name} as d where (${known('d')}) in (select ${known('x')} from ${rows})`
}

function isSame({ primaryKey }: Table, dialect: Dialect): string {
  return [...primaryKey, 'version']
    .map((column) => `d.${dialect.quote(column)} = x.${dialect.quote(column)}`)
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
function isProof(table: Table): Wanted {
  return (name) => isKey(table, name) || name === 'version'
}

function pick(table: Table, wanted: Wanted): Readonly<Record<string, Column>> {
  return Object.fromEntries(Object.entries(table.columns).filter(([name, column]) => wanted(name, column)))
}

/** The columns that a change tells of. */
const WRITTEN: Readonly<Record<ChangeKind, Readonly<Record<TableName, readonly string[]>>>> = {
  insert: namesOf(() => () => true),
  update: namesOf(isUpdated),
  remove: namesOf(isProof),
}

function namesOf(wanted: (table: Table) => Wanted): Readonly<Record<TableName, readonly string[]>> {
  const names = Object.entries<Table>(TABLES).map(([name, table]) => [name, Object.keys(pick(table, wanted(table)))])
  return Object.fromEntries(names)
}
