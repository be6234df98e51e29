import type { Column } from '../../engine/columns.ts'
import type { Kind } from '../../engine/kinds.ts'
import { type Dialect, type DialectName, tableNames } from '../dialects/dialects.ts'
import type { Index, Table } from '../tables/tables.ts'

export type Tables = Readonly<Record<string, Table>>

type IfMissing = Readonly<Record<'column' | 'index', string>>

const IF_MISSING = ' if not exists'

/** Conditions that each database knows. Without one, a definition that is made already fails, and `isMadeAlready` recognises it. */
const SUPPORTED: Readonly<Record<DialectName, IfMissing>> = {
  sqlite: { column: '', index: IF_MISSING },
  postgresql: { column: IF_MISSING, index: IF_MISSING },
  mysql: { column: '', index: '' },
  mariadb: { column: IF_MISSING, index: IF_MISSING },
}

/** Statements that bring the tables, columns and indexes of one migration. Each may run again. @param number From 1. */
export function definitions(number: number, tables: Tables, dialect: Dialect, prefix: string): readonly string[] {
  return Object.entries(tables).flatMap(([table, definition]) => {
    const name = tableNames(dialect, prefix)(table as Kind)
    const isNew = ({ since }: Column | Index): boolean => Math.max(since, definition.since) === number
    const columns = Object.entries(definition.columns).filter(([, column]) => isNew(column))
    const indexes = definition.indexes.filter(isNew)
    const { column: columnIfMissing, index: indexIfMissing } = SUPPORTED[dialect.name]
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
    // MySQL has no `create index if not exists`: its table definitions contain the indexes.
    if (dialect.name === 'mysql' || dialect.name === 'mariadb') {
      const within = indexes.map(
        (index) => `index ${indexName(index, prefix, table, dialect)} ${indexedColumns(index, dialect)}`,
      )
      return [tableText(name, [...lines, ...within], dialect)]
    }
    const settings = dialect.name === 'postgresql' ? settingsOf(definition) : []
    const options = settings.length > 0 ? ` with (${settings.join(', ')})` : ''
    return [`${tableText(name, lines, dialect)}${options}`, ...indexes.map(create)]
  })
}

/** Storage parameters of PostgreSQL. */
function settingsOf({ fillfactor, isChurned }: Table): readonly string[] {
  return [
    ...(fillfactor ? [`fillfactor = ${fillfactor}`] : []),
    ...(isChurned ? ['autovacuum_vacuum_scale_factor = 0.02'] : []),
  ]
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
