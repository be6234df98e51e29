import type { Column } from '../../engine/columns.ts'
import type { Kind } from '../../engine/kinds.ts'
import type { Dialect } from '../dialects/dialects.ts'
import { tableNames } from '../dialects/statements.ts'
import type { Index, Table } from '../tables/tables.ts'

export type Tables = Readonly<Record<string, Table>>

/** Statements that bring the tables, columns and indexes of one migration. Each may run again. @param number From 1. */
export function definitions(number: number, tables: Tables, dialect: Dialect, prefix: string): readonly string[] {
  return Object.entries(tables).flatMap(([table, definition]) => {
    const name = tableNames(dialect, prefix)(table as Kind)
    const isNew = ({ since }: Column | Index): boolean => Math.max(since, definition.since) === number
    const columns = Object.entries(definition.columns).filter(([, column]) => isNew(column))
    const indexes = definition.indexes.filter(isNew)
    const { column: columnIfMissing, index: indexIfMissing } = dialect.ifMissing
    const create = (index: Index): string =>
      `create index${indexIfMissing} ${indexName(index, prefix, table, dialect)} on ${name} ${indexedColumns(index, dialect)}`
    if (definition.since !== number) {
      const add = columns.map(
        (column) => `alter table ${name} add column${columnIfMissing} ${columnText(column, dialect)}`,
      )
      return [...add, ...indexes.map(create)]
    }
    const primaryKey = `primary key (${definition.primaryKey.map(dialect.quote).join(', ')})`
    const lines = [...columns.map((column) => columnText(column, dialect)), primaryKey]
    if (dialect.hasIndexesInTable) {
      const within = indexes.map(
        (index) => `index ${indexName(index, prefix, table, dialect)} ${indexedColumns(index, dialect)}`,
      )
      return [tableText(name, [...lines, ...within], dialect)]
    }
    return [`${tableText(name, lines, dialect)}${dialect.storage(definition)}`, ...indexes.map(create)]
  })
}

/** The tables and columns that the migrations up to this number make. */
export function tablesUpTo(number: number, tables: Tables): Tables {
  const made = Object.entries(tables).filter(([, { since }]) => since <= number)
  return Object.fromEntries(
    made.map(([name, table]) => {
      const columns = Object.entries(table.columns).filter(([, { since }]) => since <= number)
      return [name, { ...table, columns: Object.fromEntries(columns) }]
    }),
  )
}

export function tableText(name: string, lines: readonly string[], { tableOptions }: Dialect): string {
  return `create table if not exists ${name} (\n${lines.map((line) => `  ${line}`).join(',\n')}\n)${tableOptions}`
}

function columnText([name, { kind, length = 0, optional }]: readonly [string, Column], dialect: Dialect): string {
  return `${dialect.quote(name)} ${dialect.types[kind](length)}${optional ? '' : ' not null'}`
}

function indexName({ name }: Index, prefix: string, table: string, dialect: Dialect): string {
  return dialect.quote(`${prefix}${table}_${name}`)
}

function indexedColumns({ columns, present }: Index, dialect: Dialect): string {
  const where = present !== undefined && dialect.partialIndexes ? ` where ${dialect.quote(present)} is not null` : ''
  return `(${columns.map(dialect.quote).join(', ')})${where}`
}
