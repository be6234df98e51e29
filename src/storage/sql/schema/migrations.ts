import type { Dialect } from '../dialects/dialects.ts'
import { tableNames } from '../dialects/statements.ts'
import { MIGRATION_NAMES } from '../tables/migration-names.ts'
import { TABLES } from '../tables/tables.ts'
import { definitions, type Tables, tableText } from './definitions.ts'
import { functions } from './functions.ts'

/** One step of a store's tables from one version to the next. */
export interface SqlMigration {
  /** The name that the last statement records. */
  readonly name: string
  /** In order, each without a final semicolon. The last one records the migration. */
  readonly statements: readonly string[]
}

/** The migrations, and the tables that they make together. */
export interface Schema {
  readonly names: readonly string[]
  readonly tables: Tables
}

/** The schema of this version. */
export const SCHEMA: Schema = { names: MIGRATION_NAMES, tables: TABLES }

/**
 * All migrations, oldest first. Each can be repeated from its start after it stopped anywhere: MySQL commits every definition. The newest
 * one makes the functions of PostgreSQL, whose names have its number: the functions of running processes of older versions remain.
 */
export function migrationsFor(dialect: Dialect, prefix: string, schema: Schema = SCHEMA): readonly SqlMigration[] {
  const { names, tables } = schema
  return names.map((name, at) => ({
    name,
    statements: [
      ...(at === 0 ? [recordsDefinition(dialect, prefix)] : []),
      ...definitions(at + 1, tables, dialect, prefix),
      ...(at === names.length - 1 ? functionsFor(dialect, prefix) : []),
      `insert into ${recordsName(dialect, prefix)} (name, migrated_at) values ('${name}', ${dialect.now})`,
    ],
  }))
}

/** Functions of this version. Each may be made again. */
export function functionsFor(dialect: Dialect, prefix: string): readonly string[] {
  return dialect.hasFunctions ? functions(dialect, tableNames(dialect, prefix), prefix) : []
}

export function recordsName(dialect: Dialect, prefix: string): string {
  return dialect.quote(`${prefix}migrations`)
}

export function recordsDefinition(dialect: Dialect, prefix: string): string {
  const columns = [`name ${dialect.types.key(200)} not null`, `migrated_at ${dialect.types.integer(0)} not null`]
  return tableText(recordsName(dialect, prefix), [...columns, 'primary key (name)'], dialect)
}
