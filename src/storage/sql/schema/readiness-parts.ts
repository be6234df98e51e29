import type { Database } from '../connection/database.ts'
import { MIGRATE, notReady, REMEDY, unusable } from '../connection/driver-errors.ts'
import type { DialectName } from '../dialects/dialects.ts'
import type { Tables } from './definitions.ts'
import { functionsFor, recordsName } from './migrations.ts'

type Place = Pick<Database, 'dialect' | 'prefix'>
type Row = Readonly<Record<string, unknown>>
type Query = (text: string) => Promise<readonly Row[]>

/** Tables and columns that a statement without a schema finds. @param names SQL texts, separated by commas. */
const COLUMNS: Readonly<Record<DialectName, (names: string) => string>> = {
  sqlite: (names) =>
    `select m.name as in_table, c.name as in_column from sqlite_master m join pragma_table_info(m.name) c where m.name in (${names})`,
  postgresql: (names) => `select t.name as in_table, a.attname as in_column from unnest(array[${names}]) as t(name)
    join pg_attribute a on a.attrelid = to_regclass(quote_ident(t.name)) and a.attnum > 0 and not a.attisdropped`,
  mysql: mysqlColumns,
  mariadb: mysqlColumns,
}

function mysqlColumns(names: string): string {
  return `select table_name as in_table, column_name as in_column from information_schema.columns
    where table_schema = database() and table_name in (${names})`
}

/**
 * @param query Runs a statement. None fails for a missing part, which would end a transaction of PostgreSQL.
 * @param isRecorded All migrations are recorded.
 * @throws {SallyportError} `config_invalid`, if a table, column or function is missing.
 */
export async function checkParts(db: Place, query: Query, tables: Tables, isRecorded: boolean): Promise<void> {
  await checkTables(db, query, tables, isRecorded)
  const functions = await missingFunctions(db, query).catch(refuse)
  if (functions.length > 0) {
    throw notReady(`The database lacks functions of this version of the store, such as ${functions[0]}.`, REMEDY)
  }
}

/** {@link checkParts} without the functions. */
export async function checkTables(db: Place, query: Query, tables: Tables, isRecorded: boolean): Promise<void> {
  const again = `${isRecorded ? `delete all rows of ${recordsName(db.dialect, db.prefix)}, ` : ''}and run ${MIGRATE}`
  const lost = await lostPart(db, query, tables, again).catch(refuse)
  if (lost) throw notReady(...lost)
  // The catalog of PostgreSQL also lists tables that the user may not read.
  await query(columnsText(db, tables)).catch(refuse)
}

function refuse(cause: unknown): never {
  throw unusable(cause)
}

async function lostPart(
  db: Place,
  query: Query,
  tables: Tables,
  again: string,
): Promise<readonly [problem: string, remedy: string] | undefined> {
  const { dialect, prefix } = db
  const names = Object.keys(tables).map((table) => `'${prefix}${table}'`)
  // Some servers change the case of names.
  const key = (...of: readonly unknown[]): string => of.join(' ').toLowerCase()
  const rows = await query(COLUMNS[dialect.name](names.join(', ')))
  const found = new Set(rows.flatMap((row) => [key(row.in_table), key(row.in_table, row.in_column)]))
  for (const [table, { columns }] of Object.entries(tables)) {
    const name = `${prefix}${table}`
    if (!found.has(key(name))) {
      return [`The database lacks the table ${name}.`, `Restore it from a backup; or ${again}, which makes it empty.`]
    }
    const column = Object.keys(columns).find((one) => !found.has(key(name, one)))
    if (column === undefined) continue
    return [
      `The table ${name} lacks the column ${column}: another program made it, or it was changed by hand.`,
      `Give the store another \`prefix\`; or remove the table, ${again}.`,
    ]
  }
  return undefined
}

function columnsText({ dialect, prefix }: Place, tables: Tables): string {
  const from = Object.keys(tables).map((table, at) => `${dialect.quote(prefix + table)} t${at}`)
  const columns = Object.values(tables).flatMap((table, at) =>
    Object.keys(table.columns).map((name) => `t${at}.${dialect.quote(name)}`),
  )
  return `select ${columns.join(', ')} from ${from.join(', ')} where 1 = 0`
}

/** Names of the functions of this version that the database lacks. */
export async function missingFunctions({ dialect, prefix }: Place, query: Query): Promise<readonly string[]> {
  const names = functionsFor(dialect, prefix).flatMap(
    (text) => /^create or replace function "(\w+)"/.exec(text)?.[1] ?? [],
  )
  if (names.length === 0) return []
  const list = names.map((name) => `'${name}'`).join(', ')
  const found = await query(
    `select distinct proname from pg_proc where pg_function_is_visible(oid) and proname in (${list})`,
  )
  const isThere = new Set(found.map(({ proname }) => proname))
  return names.filter((name) => !isThere.has(name))
}
