import { type Database, type HostKysely, statement } from '../connection/database.ts'
import type { Dialect, DialectName } from '../connection/dialects.ts'
import { notReady } from '../connection/driver-errors.ts'
import { checkParts, migrationsLeft, migrationsMade } from '../connection/readiness.ts'
import { checkServer } from '../connection/readiness-server.ts'
import { migrationsFor, recordsDefinition, recordsName, type SqlMigration } from './migrations.ts'

interface Lock {
  begin(name: string): readonly string[]
  end(name: string): string
  undo(name: string): string
}

type Row = Readonly<Record<string, unknown>>
type Run = (text: string) => Promise<readonly Row[]>

/** Limit of the wait for another migrating process. */
const WAIT_MS = 60_000
const WAIT_SECONDS = WAIT_MS / 1_000

const TRANSACTION = { end: () => 'commit', undo: () => 'rollback' } as const

/** Named locks belong to the server, so the name contains the database. */
const mysqlName = (name: string): string => `sha1(concat(database(), ' ${name}'))`

const MYSQL: Lock = {
  begin: (name) => [`select get_lock(${mysqlName(name)}, ${WAIT_SECONDS}) as held`],
  end: (name) => `select release_lock(${mysqlName(name)})`,
  undo: (name) => `select release_lock(${mysqlName(name)})`,
}

const LOCKS: Readonly<Record<DialectName, Lock>> = {
  sqlite: { begin: () => ['begin immediate'], ...TRANSACTION },
  postgresql: {
    // Read committed, whatever the host's default is: each statement sees the commits of the previous lock holder.
    begin: (name) => [
      'begin isolation level read committed read write',
      `set local lock_timeout = '${WAIT_SECONDS}s'`,
      'set local statement_timeout = 0',
      `select pg_advisory_xact_lock(hashtextextended('${name}', 0))`,
    ],
    ...TRANSACTION,
  },
  mysql: MYSQL,
  mariadb: MYSQL,
}

/**
 * Runs the missing migrations while other processes wait. SQLite and PostgreSQL run all or none; on MySQL and MariaDB the next call
 * continues after a failure.
 * @param host Without plugins.
 * @throws {SallyportError} `config_invalid`, if the database cannot be used or a newer version migrated it. Nothing was changed.
 */
export async function migrate(host: HostKysely, db: Database): Promise<void> {
  await checkServer(db)
  if (migrationsLeft((await migrationsMade(db)) ?? []).length > 0) {
    await untilFree(db.dialect, () => host.connection().execute((connection) => makeAll(connection, db)))
  }
  await checkParts(db, (text) => db.query(text, []))
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

/** Retries while SQLite is locked or a conflict occurs. */
async function untilFree(dialect: Dialect, attempt: () => Promise<void>): Promise<void> {
  const deadline = performance.now() + WAIT_MS
  for (;;) {
    try {
      return await attempt()
    } catch (cause) {
      const isConflict = typeof cause === 'object' && cause !== null && dialect.isConflict(cause)
      if (!isConflict || performance.now() > deadline) throw cause
    }
    // Random, so that waiting processes separate.
    await new Promise((resolve) => setTimeout(resolve, 10 + Math.random() * 40))
  }
}

/** @param connection One connection for all statements. */
async function makeAll(connection: HostKysely, db: Database): Promise<void> {
  const lock = LOCKS[db.dialect.name]
  const name = `${db.prefix}migrations`
  const run: Run = async (text) => (await connection.executeQuery<Row>(statement(text))).rows
  let isHeld = false
  try {
    for (const text of lock.begin(name)) {
      const [row] = await run(text)
      if (row && Object.hasOwn(row, 'held') && Number(row.held) !== 1) throw stillMigrating()
      isHeld = true
    }
    await makeMissing(run, db)
    await run(lock.end(name))
  } catch (cause) {
    // If this fails, the connection and its lock are lost.
    if (isHeld) await run(lock.undo(name)).catch(() => {})
    throw cause
  }
}

async function makeMissing(run: Run, db: Database): Promise<void> {
  const { dialect, prefix } = db
  const records = recordsDefinition(dialect, prefix)
  await run(records)
  const made = await run(`select name from ${recordsName(dialect, prefix)}`)
  const left = migrationsLeft(made.map(({ name }) => String(name)))
  for (const { name, statements } of migrationsFor(dialect, prefix)) {
    if (!left.includes(name)) continue
    for (const [at, text] of statements.entries()) {
      // Check before the last migration is recorded: a host's table may have the name of a store's table.
      if (name === left.at(-1) && at === statements.length - 1) await checkParts(db, run)
      if (text !== records) await run(text)
    }
  }
}

function stillMigrating(): Error {
  return notReady(`Another process has been migrating the database for ${WAIT_SECONDS} seconds.`, 'Wait for it to end.')
}
