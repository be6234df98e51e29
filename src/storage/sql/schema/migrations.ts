import { type Dialect, type NameTable, tableNames } from '../connection/dialects.ts'
import type { Index, Table } from './columns.ts'
import { functions } from './functions.ts'
import type { TableName } from './records.ts'
import { TABLES } from './tables.ts'

/** One step of a store's tables from one version to the next. */
export interface SqlMigration {
  /** The name that the last statement records. */
  readonly name: string
  /** In order, each without a final semicolon. The last one records the migration. */
  readonly statements: readonly string[]
}

/**
 * All migrations, oldest first. A released migration never changes; a change of the tables is a new migration. MySQL commits every
 * definition, so a migration must be repeatable from its start after it stopped anywhere. Until the first release, `0001_tables` creates
 * the current {@link TABLES}; a later migration adds a column only where it is missing.
 */
const MIGRATIONS: readonly {
  readonly name: string
  statements(dialect: Dialect, prefix: string): readonly string[]
}[] = [
  { name: '0001_tables', statements: (dialect, prefix) => definitions(dialect, tableNames(dialect, prefix), prefix) },
]

export const MIGRATION_NAMES: readonly string[] = MIGRATIONS.map(({ name }) => name)

export function migrationsFor(dialect: Dialect, prefix: string): readonly SqlMigration[] {
  return MIGRATIONS.map(({ name, statements }, at) => ({
    name,
    statements: [
      ...(at === 0 ? [recordsDefinition(dialect, prefix)] : []),
      ...statements(dialect, prefix),
      `insert into ${recordsName(dialect, prefix)} (name, migrated_at) values ('${name}', ${dialect.now})`,
    ],
  }))
}

export function recordsName(dialect: Dialect, prefix: string): string {
  return dialect.quote(`${prefix}migrations`)
}

export function recordsDefinition(dialect: Dialect, prefix: string): string {
  const columns = [`name ${dialect.types.key(200)} not null`, `migrated_at ${dialect.types.integer(0)} not null`]
  return tableText(recordsName(dialect, prefix), [...columns, 'primary key (name)'], dialect)
}

export function definitions(dialect: Dialect, nameOf: NameTable, prefix: string): readonly string[] {
  const tables = Object.entries<Table>(TABLES).flatMap(([table, definition]) => {
    const name = nameOf(table as TableName)
    const indexes = definition.indexes.map((index) => indexOf(index, `${prefix}${table}`, dialect))
    const lines = linesOf(definition, dialect)
    // MySQL has no `create index if not exists`: its table definitions contain the indexes.
    if (dialect.name !== 'sqlite' && dialect.name !== 'postgresql')
      return [tableText(name, [...lines, ...indexes.map((index) => `index ${index.name} ${index.of}`)], dialect)]
    const apart = indexes.map((index) => `create index if not exists ${index.name} on ${name} ${index.of}`)
    const room = dialect.name === 'postgresql' && definition.isUpdated ? ' with (fillfactor = 60)' : ''
    return [`${tableText(name, lines, dialect)}${room}`, ...apart]
  })
  return dialect.hasFunctions ? [...tables, ...functions(dialect, nameOf, prefix)] : tables
}

function tableText(name: string, lines: readonly string[], { tableOptions }: Dialect): string {
  return `create table if not exists ${name} (\n${lines.map((line) => `  ${line}`).join(',\n')}\n)${tableOptions}`
}

function linesOf(table: Table, dialect: Dialect): readonly string[] {
  const columns = Object.entries(table.columns).map(([column, { kind, length = 0, optional }]) => {
    const type = dialect.types[kind](length)
    return `${dialect.quote(column)} ${type}${optional ? '' : ' not null'}`
  })
  return [...columns, `primary key (${table.primaryKey.map(dialect.quote).join(', ')})`]
}

function indexOf(
  { name, columns, present }: Index,
  table: string,
  dialect: Dialect,
): { readonly name: string; readonly of: string } {
  const where = present !== undefined && dialect.partialIndexes ? ` where ${dialect.quote(present)} is not null` : ''
  return { name: dialect.quote(`${table}_${name}`), of: `(${columns.map(dialect.quote).join(', ')})${where}` }
}
