import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, type Logger, MysqlDialect, PostgresDialect, type SqliteDatabase, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { createPool, type Pool } from 'mysql2'
import pg from 'pg'
import type { DialectName } from '../../src/storage/sql/dialects/dialects.ts'
import { sqlStore } from '../../src/storage/sql/index.ts'
import { keptStatements } from '../support/kept-statements.ts'
import { PART, pathOf, runsForServices } from '../support/parts.ts'
import { postgresAt, postgresUrl } from '../support/postgres-server.ts'
import { postgresPort, TEMPLATE } from '../support/shared-postgres.ts'
import { statementLog } from '../support/statement-log.ts'

/** Options of a connection. */
export interface ConnectOptions {
  /** Size of the pool. Default: 5; SQLite has one. */
  readonly connections?: number
  /** Called for every statement. Default: prints with `SALLYPORT_LOG_SQL=1`. */
  readonly log?: Logger
}

/** A database for one test file. */
export interface TestDatabase {
  readonly dialect: DialectName
  /** Opens another connection or pool, like another process. */
  // biome-ignore lint/suspicious/noExplicitAny: it is of any tables.
  connect(options?: ConnectOptions): Kysely<any>
  /** Resolves when no statement runs on its connections, of stores that work in the background too. */
  idle(): Promise<void>
  /** Releases all resources. */
  close(): Promise<void>
}

/** A database on the PostgreSQL of the run. */
export interface PostgresDatabase extends TestDatabase {
  /** For other processes. */
  readonly url: string
}

/** A kind of database that tests run on. */
export interface DatabaseKind {
  readonly name: DialectName
  /** The reason why it is not available; absent if it is. */
  readonly absent?: string
  /** Opens a new database with the tables of the store, whose prefix is `sallyport_`. */
  open(): Promise<TestDatabase>
  openEmpty(): Promise<TestDatabase>
}

const SQLITE: DatabaseKind = { name: 'sqlite', open: () => migrated(openSqlite()), openEmpty: openSqlite }
const POSTGRESQL: DatabaseKind = {
  ...{ name: 'postgresql', open: openPostgresql, openEmpty: () => openPostgresql('template1') },
}
const MARIADB: DatabaseKind = { name: 'mariadb', open: () => migrated(openMariadb()), openEmpty: openMariadb }

/**
 * `npm test` runs on SQLite. The second part does not repeat that, unless with more examples of properties. It adds PostgreSQL and MariaDB,
 * which is not in the registry: if it is missing, the reason is printed, or with `SALLYPORT_REQUIRE_SERVICES=1` the run fails.
 */
export async function databaseKinds(): Promise<readonly DatabaseKind[]> {
  if (PART === 'quick') return [SQLITE]
  const absent = (await answers(3306)) ? undefined : 'no MariaDB answers on 127.0.0.1:3306'
  if (absent && process.env.SALLYPORT_REQUIRE_SERVICES === '1') throw new Error(`required for these tests: ${absent}`)
  if (absent) console.warn(`skipped: ${absent}`)
  const mariadb = { ...MARIADB, ...(absent && { absent }) }
  return [...((await isForServices()) ? [] : [SQLITE]), POSTGRESQL, mariadb]
}

/** True if the file of the running tests is in the second part for its services alone. */
async function isForServices(): Promise<boolean> {
  if (PART !== 'rest') return false
  // Labs read databases outside of vitest.
  const { expect } = await import('vitest')
  return runsForServices(pathOf(expect.getState().testPath ?? ''))
}

async function quiet(isBusy: () => boolean): Promise<void> {
  do await new Promise(setImmediate)
  while (isBusy())
}

function lengthOf(pool: Pool, of: string): number {
  return (Reflect.get(pool, of) as { readonly length: number }).length
}

async function migrated(opening: Promise<TestDatabase>): Promise<TestDatabase> {
  const database = await opening
  await sqlStore({ db: database.connect(), dialect: database.dialect, timeoutMs: 60_000 }).migrate()
  return database
}

export async function openSqlite(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-'))
  const opened: Kysely<unknown>[] = []
  return {
    dialect: 'sqlite',
    connect({ log = statementLog } = {}) {
      const dialect = new SqliteDialect({ database: openFile(join(folder, 'test.db')) })
      const db = new Kysely<unknown>({ dialect, ...(log && { log }) })
      opened.push(db)
      return db
    },
    // Its statements are synchronous.
    idle: () => quiet(() => false),
    async close() {
      for (const db of opened) await db.destroy()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/**
 * Two handles of one process must not wait for each other within SQLite, which would block both: a statement that finds
 * the database busy runs again.
 */
function openFile(path: string): SqliteDatabase {
  const database = new Database(path, { timeout: 0 })
  database.exec('pragma journal_mode = wal; pragma synchronous = normal')
  return keptStatements(database)
}

/** @param template The database to copy. Default: one with the tables of the store. */
export async function openPostgresql(template: string = TEMPLATE): Promise<PostgresDatabase> {
  const port = await postgresPort()
  const database = `t${randomBytes(6).toString('hex')}`
  const admin = new pg.Client(postgresAt(port))
  admin.on('error', () => {})
  await admin.connect()
  await admin.query(`create database ${database} template ${template}`)
  const opened: Kysely<unknown>[] = []
  const pools: pg.Pool[] = []
  return {
    dialect: 'postgresql',
    url: postgresUrl(port, database),
    connect({ connections: max = 5, log = statementLog } = {}) {
      const pool = new pg.Pool({ ...postgresAt(port, database), max })
      pool.on('error', () => {})
      pools.push(pool)
      const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }), ...(log && { log }) })
      opened.push(db)
      return db
    },
    idle: () => quiet(() => pools.some((pool) => pool.waitingCount > 0 || pool.idleCount < pool.totalCount)),
    async close() {
      for (const db of opened) await db.destroy()
      await admin.query(`drop database ${database} with (force)`)
      await admin.end()
    },
  }
}

async function openMariadb(): Promise<TestDatabase> {
  const database = `t${randomBytes(6).toString('hex')}`
  const at = { host: '127.0.0.1', user: 'root', disableEval: true }
  const admin = createPool(at).promise()
  await admin.query(`create database ${database}`)
  const opened: Kysely<unknown>[] = []
  const pools: Pool[] = []
  return {
    dialect: 'mariadb',
    connect({ connections: connectionLimit = 5, log = statementLog } = {}) {
      const pool = createPool({ ...at, database, connectionLimit })
      pools.push(pool)
      const dialect = new MysqlDialect({ pool })
      const db = new Kysely<unknown>({ dialect, ...(log && { log }) })
      opened.push(db)
      return db
    },
    // Private in the type of a pool.
    idle: () =>
      quiet(() => pools.some((pool) => lengthOf(pool, '_freeConnections') < lengthOf(pool, '_allConnections'))),
    async close() {
      for (const db of opened) await db.destroy()
      await admin.query(`drop database ${database}`)
      await admin.end()
    },
  }
}

function answers(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection({ port, host: '127.0.0.1' })
    const end = (isThere: boolean): void => {
      socket.destroy()
      resolve(isThere)
    }
    socket.once('connect', () => end(true)).once('error', () => end(false))
  })
}
