import { type Database, type HostKysely, statement } from '../connection/database.ts'
import { isMadeAlready, notReady } from '../connection/driver-errors.ts'
import type { Dialect, DialectName } from '../dialects/dialects.ts'
import { tablesUpTo } from './definitions.ts'
import {
  functionsFor,
  migrationsFor,
  recordsDefinition,
  recordsName,
  SCHEMA,
  type Schema,
  type SqlMigration,
} from './migrations.ts'
import { migrationsLeft, migrationsMade } from './readiness.ts'
import { checkParts, checkTables, missingFunctions } from './readiness-parts.ts'
import { checkServer } from './readiness-server.ts'

/** Statements around a migration. Other processes go on: a definition that waits for their transactions makes them wait, so it gives up soon. */
interface Lock {
  begin(name: string): readonly string[]
  end(name: string): readonly string[]
  undo(name: string): readonly string[]
}

type Row = Readonly<Record<string, unknown>>
type Run = (text: string) => Promise<readonly Row[]>

/** Limit of the wait for another migrating process, and for transactions that use a table. */
const WAIT_MS = 60_000
const WAIT_SECONDS = WAIT_MS / 1_000

/** Limit of the wait of one definition for the transactions that use its table. */
const DEFINITION_WAIT_MS = 300

const TRANSACTION = { end: () => ['commit'], undo: () => ['rollback'] } as const

/** Named locks belong to the server, so the name contains the database. */
const mysqlName = (name: string): string => `sha1(concat(database(), ' ${name}'))`

/** The shortest wait for a table is a second. */
const MYSQL: Lock = {
  begin: (name) => [`select get_lock(${mysqlName(name)}, ${WAIT_SECONDS}) as held`, 'set lock_wait_timeout = 1'],
  end: mysqlEnd,
  undo: mysqlEnd,
}

function mysqlEnd(name: string): readonly string[] {
  return [`select release_lock(${mysqlName(name)})`, 'set lock_wait_timeout = default']
}

const LOCKS: Readonly<Record<DialectName, Lock>> = {
  // `begin immediate` is not enough: its commit waits for readers, and by statements that a driver leaves open two processes wait for each other.
  sqlite: { begin: () => ['begin exclusive'], ...TRANSACTION },
  postgresql: {
    // Read committed, whatever the host's default is: each statement sees the commits of the previous lock holder.
    begin: (name) => [
      'begin isolation level read committed read write',
      `set local lock_timeout = '${WAIT_SECONDS}s'`,
      'set local statement_timeout = 0',
      `select pg_advisory_xact_lock(hashtextextended('${name}', 0))`,
      `set local lock_timeout = ${DEFINITION_WAIT_MS}`,
    ],
    ...TRANSACTION,
  },
  mysql: MYSQL,
  mariadb: MYSQL,
}

/**
 * Runs the missing migrations while other processes wait, and makes missing functions. SQLite and PostgreSQL run all or none; on MySQL and
 * MariaDB the next call continues after a failure.
 * @param host Without plugins.
 * @throws {SallyportError} `config_invalid`, if the database cannot be used, or this version cannot work after a migration of a newer one:
 * the database is then unchanged.
 */
export async function migrate(host: HostKysely, db: Database, schema: Schema = SCHEMA): Promise<void> {
  await checkServer(db)
  const query: Run = (text) => db.query(text, [])
  const isIncomplete = async (): Promise<boolean> =>
    migrationsLeft((await migrationsMade(db)) ?? [], schema).length > 0 ||
    (await missingFunctions(db, query)).length > 0
  if (await isIncomplete()) {
    await untilFree(db.dialect, () => host.connection().execute((connection) => makeAll(connection, db, schema)))
  }
  await checkParts(db, query, schema.tables, true)
}

/**
 * Migrations that {@link migrate} would run. It only reads.
 *
 * @throws {SallyportError} `config_invalid`, as `migrate`.
 */
export async function pendingMigrations(db: Database): Promise<readonly SqlMigration[]> {
  await checkServer(db)
  const left = migrationsLeft((await migrationsMade(db)) ?? [])
  return migrationsFor(db.dialect, db.prefix).filter(({ name }) => left.includes(name))
}

/** Retries while SQLite is locked, others use a table, or a conflict occurs. */
async function untilFree(dialect: Dialect, attempt: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + WAIT_MS
  for (;;) {
    try {
      return await attempt()
    } catch (cause) {
      const isConflict = typeof cause === 'object' && cause !== null && dialect.isConflict(cause)
      if (!isConflict) throw cause
      if (performance.now() > deadline) throw stillUsed()
    }
    // Random, so that waiting processes separate. Statements that waited behind this one run meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 90))
  }
}

/** @param connection One connection for all statements. */
async function makeAll(connection: HostKysely, db: Database, schema: Schema): Promise<void> {
  const lock = LOCKS[db.dialect.name]
  const name = `${db.prefix}migrations`
  const run: Run = async (text) => (await connection.executeQuery<Row>(statement(text))).rows
  let isHeld = false
  try {
    for (const text of lock.begin(name)) {
      const [row] = await run(text)
      if (row && Object.hasOwn(row, 'held') && Number(row.held) !== 1) throw stillUsed()
      isHeld = true
    }
    await makeMissing(run, db, schema)
    for (const text of lock.end(name)) await run(text)
  } catch (cause) {
    // If this fails, the connection and its lock are lost.
    if (isHeld) for (const text of lock.undo(name)) await run(text).catch(() => {})
    throw cause
  }
}

async function makeMissing(run: Run, db: Database, schema: Schema): Promise<void> {
  const { dialect, prefix } = db
  const records = recordsDefinition(dialect, prefix)
  await run(records)
  const made = await run(`select name from ${recordsName(dialect, prefix)}`)
  const left = migrationsLeft(made.map(({ name }) => String(name)).sort(), schema)
  if (left.length === 0) for (const text of functionsFor(dialect, prefix)) await run(text)
  for (const { name, statements } of migrationsFor(dialect, prefix, schema)) {
    if (!left.includes(name)) continue
    for (const [at, text] of statements.entries()) {
      // Before it is recorded: a host's table may have the name of a store's table.
      if (at === statements.length - 1) await checkMade(name, run, db, schema)
      if (text !== records) await run(text).catch(ignoreMade)
    }
  }
}

/** Checks what a migration and those before it make. The functions come with the newest. */
async function checkMade(name: string, run: Run, db: Database, { names, tables }: Schema): Promise<void> {
  const check = name === names.at(-1) ? checkParts : checkTables
  await check(db, run, tablesUpTo(names.indexOf(name) + 1, tables), false)
}

function ignoreMade(cause: unknown): void {
  if (!isMadeAlready(cause)) throw cause
}

function stillUsed(): Error {
  return notReady(
    `Another process has been migrating the database, or kept one of its tables in a transaction, for ${WAIT_SECONDS} seconds.`,
    'Wait for it to end, such as a backup, and migrate again.',
  )
}
