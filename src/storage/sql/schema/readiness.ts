import type { Database } from '../connection/database.ts'
import { isNoSuchColumn, isNoSuchTable, notReady, REMEDY, unusable } from '../connection/driver-errors.ts'
import { isAdditive } from '../tables/migration-names.ts'
import { recordsName, SCHEMA, type Schema } from './migrations.ts'
import { checkParts } from './readiness-parts.ts'
import { checkServer } from './readiness-server.ts'

/** Only reads. @throws {SallyportError} `config_invalid`, with the problem and the remedy. */
export async function checkReadiness(db: Database, schema: Schema = SCHEMA): Promise<void> {
  await checkServer(db)
  const made = await migrationsMade(db)
  if (!made) throw notReady(`The database has no tables of this store, whose prefix is "${db.prefix}".`, REMEDY)
  const missing = migrationsLeft(made, schema).join(', ')
  if (missing !== '') {
    const last = made.at(-1)
    throw notReady(
      last === undefined
        ? `The database is migrated only in part: ${missing} was not made, or not to its end.`
        : `The database has migration ${last}, but this version needs ${missing}, which was not made, or not to its end.`,
      REMEDY,
    )
  }
  await checkParts(db, (text) => db.query(text, []), schema.tables, true)
}

/** Names of completed migrations, sorted; `undefined`: there is no table of them. */
export async function migrationsMade(db: Database): Promise<readonly string[] | undefined> {
  const records = recordsName(db.dialect, db.prefix)
  try {
    const rows = await db.query<{ readonly name: string }>(`select name, migrated_at from ${records}`, [])
    return rows.map(({ name }) => name).sort()
  } catch (cause) {
    if (isNoSuchColumn(cause)) {
      throw notReady(
        `The table ${records} lacks a column: another program made it.`,
        'Give the store another `prefix`, or rename this table.',
      )
    }
    if (isNoSuchTable(cause)) return undefined
    throw unusable(cause)
  }
}

/**
 * Names of the migrations that are still to be made. Unknown ones are ignored if they only added something.
 * @throws {SallyportError} `config_invalid`, if this version cannot work after a completed migration.
 */
export function migrationsLeft(made: readonly string[], { names }: Schema = SCHEMA): readonly string[] {
  const newest = made.filter((name) => !names.includes(name) && !isAdditive(name)).at(-1)
  if (newest !== undefined) {
    const called = /^\w{1,100}$/.test(newest) ? `migration ${newest}` : 'another migration'
    throw notReady(
      `A newer version of Sallyport migrated the database to ${called}, which this version cannot work with; it knows migrations up to ${names.at(-1)}.`,
      `Run a version that knows ${called}, or restore a backup from before it: migrations are not undone.`,
    )
  }
  return names.filter((name) => !made.includes(name))
}
