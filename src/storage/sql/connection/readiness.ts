import type { Table } from '../schema/columns.ts'
import { functions } from '../schema/functions.ts'
import { MIGRATION_NAMES, recordsName } from '../schema/migrations.ts'
import type { TableName } from '../schema/records.ts'
import { TABLES } from '../schema/tables.ts'
import type { Database } from './database.ts'
import { isNoSuchTable, notReady, REMEDY, unusable } from './driver-errors.ts'
import { checkServer } from './readiness-server.ts'

/** Only reads. @throws {SallyportError} `config_invalid`, with the problem and the remedy. */
export async function checkReadiness(db: Database): Promise<void> {
  await checkServer(db)
  const made = await migrationsMade(db)
  if (!made) throw notReady(`The database has no tables of this store, whose prefix is "${db.prefix}".`, REMEDY)
  const missing = migrationsLeft(made)
  if (missing.length > 0) {
    throw notReady(
      `The database is migrated only in part: ${missing.join(', ')} was not made, or not to its end.`,
      REMEDY,
    )
  }
  await checkParts(db, (text) => db.query(text, []))
}

/** Names of completed migrations; `undefined`: none is recorded. */
export async function migrationsMade(db: Database): Promise<readonly string[] | undefined> {
  try {
    const rows = await db.query<{ readonly name: string }>(`select name from ${recordsName(db.dialect, db.prefix)}`, [])
    return rows.map(({ name }) => name)
  } catch (cause) {
    if (isNoSuchTable(cause)) return undefined
    throw unusable(cause)
  }
}

/** @throws {SallyportError} `config_invalid`, if a completed migration is unknown to this version. */
export function migrationsLeft(made: readonly string[]): readonly string[] {
  const unknown = made.filter((name) => !MIGRATION_NAMES.includes(name))
  if (unknown.length > 0) {
    const newest = unknown
      .filter((name) => /^\w{1,100}$/.test(name))
      .sort()
      .at(-1)
    const called = newest === undefined ? 'another migration' : `migration ${newest}`
    throw notReady(
      `The database was migrated by a newer version of Sallyport, to ${called}; this version knows migrations up to ${MIGRATION_NAMES.at(-1)}.`,
      `Run a version that knows ${called}, or restore a backup from before it: migrations are not undone.`,
    )
  }
  return MIGRATION_NAMES.filter((name) => !made.includes(name))
}

/**
 * @param query Runs a statement.
 * @throws {SallyportError} `config_invalid`, if a table, column or function is missing.
 */
export async function checkParts(
  db: Pick<Database, 'dialect' | 'nameOf' | 'prefix'>,
  query: (text: string) => Promise<readonly unknown[]>,
): Promise<void> {
  try {
    await query(columnsText(db))
    const functions = functionNames(db)
    if (functions.length === 0) return
    const list = functions.map((name) => `'${name}'`).join(', ')
    const found = await query(
      `select distinct proname from pg_proc where pg_function_is_visible(oid) and proname in (${list})`,
    )
    if (found.length >= functions.length) return
  } catch (cause) {
    if (!isNoSuchTable(cause)) throw unusable(cause)
  }
  throw notReady(
    'The database lacks a table, a column or a function of the store.',
    'Run the statements of `sqlStatements()` again that make them, or give it another prefix, where a name is taken.',
  )
}

function columnsText({ dialect, nameOf }: Pick<Database, 'dialect' | 'nameOf'>): string {
  const tables = Object.entries<Table>(TABLES)
  const from = tables.map(([table], at) => `${nameOf(table as TableName)} t${at}`)
  const columns = tables.flatMap(([, table], at) =>
    Object.keys(table.columns).map((name) => `t${at}.${dialect.quote(name)}`),
  )
  return `select ${columns.join(', ')} from ${from.join(', ')} where 1 = 0`
}

function functionNames({ dialect, nameOf, prefix }: Pick<Database, 'dialect' | 'nameOf' | 'prefix'>): string[] {
  if (!dialect.hasFunctions) return []
  return functions(dialect, nameOf, prefix).flatMap(
    (text) => /^create or replace function "(\w+)"/.exec(text)?.[1] ?? [],
  )
}
