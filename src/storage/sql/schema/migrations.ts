import type { Dialect } from '../connection/dialects.ts'
import { definitions } from './definitions.ts'
import { tableNames } from './name-table.ts'

/** One step of a store's tables from one version to the next. */
export interface SqlMigration {
  /** Under which it is recorded once it was made. */
  readonly name: string
  /** In their order, each without a semicolon at its end. The last one records the migration. */
  readonly statements: readonly string[]
}

/**
 * All of them, oldest first. What was released never changes: a change of the tables is another migration. As MySQL ends a
 * transaction with every definition, each must bear being run again from its start, after it broke off anywhere.
 */
const MIGRATIONS: readonly {
  readonly name: string
  statements(dialect: Dialect, prefix: string): readonly string[]
}[] = [
  { name: '0001_tables', statements: (dialect, prefix) => definitions(dialect, tableNames(dialect, prefix), prefix) },
]

/** The names of all migrations, oldest first. */
export const MIGRATION_NAMES: readonly string[] = MIGRATIONS.map(({ name }) => name)

/** The migrations with all of their statements, oldest first. */
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

/** The table that has a row for each migration that was made. */
export function recordsName(dialect: Dialect, prefix: string): string {
  return dialect.quote(`${prefix}migrations`)
}

/** Makes that table, unless it is there. */
export function recordsDefinition(dialect: Dialect, prefix: string): string {
  const columns = [`name ${dialect.types.key(200)} not null`, `migrated_at ${dialect.types.integer(0)} not null`]
  const lines = [...columns, 'primary key (name)'].map((line) => `  ${line}`)
  return `create table if not exists ${recordsName(dialect, prefix)} (\n${lines.join(',\n')}\n)${dialect.tableOptions}`
}
