import type { Dialect } from '../connection/dialects.ts'
import { functions } from './functions.ts'
import type { NameTable } from './name-table.ts'
import type { TableName } from './records.ts'
import type { Index, Table } from './table.ts'
import { TABLES } from './tables.ts'

/** The statements that make all tables, indexes and functions as they are now. What is there already they leave as it is. */
export function definitions(dialect: Dialect, nameOf: NameTable, prefix: string): readonly string[] {
  const tables = Object.entries<Table>(TABLES).flatMap(([table, definition]) => {
    const name = nameOf(table as TableName)
    const indexes = indexesOf(definition, dialect).map((index) => indexOf(index, `${prefix}${table}`, dialect))
    if (!indexesApart(dialect)) {
      return [
        tableText(
          definition,
          name,
          dialect,
          indexes.map((index) => `index ${index.name} ${index.of}`),
        ),
      ]
    }
    const apart = indexes.map((index) => `create index if not exists ${index.name} on ${name} ${index.of}`)
    return [tableText(definition, name, dialect), ...apart]
  })
  return dialect.hasFunctions ? [...tables, ...functions(dialect, nameOf, prefix)] : tables
}

function indexesOf({ indexes }: Table, { partialIndexes }: Dialect): readonly Index[] {
  return partialIndexes ? indexes : indexes.flatMap((index) => index.instead ?? index)
}

/** MySQL cannot make an index only if it is not there: it makes those of a table together with it. */
function indexesApart({ name }: Dialect): boolean {
  return name === 'sqlite' || name === 'postgresql'
}

function tableText(table: Table, name: string, dialect: Dialect, indexes: readonly string[] = []): string {
  const columns = Object.entries(table.columns).map(([column, { kind, length = 0, optional }]) => {
    const type = dialect.types[kind](length)
    return `${dialect.quote(column)} ${type}${optional ? '' : ' not null'}`
  })
  const derived = Object.entries(dialect.partialIndexes ? {} : (table.derived ?? {})).map(
    ([column, text]) => `${dialect.quote(column)} ${dialect.types.integer(0)} as (${text}) stored`,
  )
  const key = `primary key (${table.primaryKey.map(dialect.quote).join(', ')})`
  const lines = [...columns, ...derived, key, ...indexes].map((line) => `  ${line}`)
  return `create table if not exists ${name} (\n${lines.join(',\n')}\n)${dialect.tableOptions}`
}

function indexOf(
  { name, columns, present }: Index,
  table: string,
  dialect: Dialect,
): { readonly name: string; readonly of: string } {
  const where = present !== undefined && dialect.partialIndexes ? ` where ${dialect.quote(present)} is not null` : ''
  return { name: dialect.quote(`${table}_${name}`), of: `(${columns.map(dialect.quote).join(', ')})${where}` }
}
