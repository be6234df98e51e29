import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createConnection } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Kysely, PostgresDialect, SqliteDialect } from 'kysely'
import Database from 'libsql'
import pg from 'pg'
import type { NotificationClient } from 'sallyport/queue/postgres'
import { keptStatements } from '../../support/kept-statements.ts'

/** Addresses of the servers. The benchmark creates its own databases and keys, and removes them. */
export const POSTGRES_URL: string = process.env.BENCH_POSTGRES_URL ?? 'postgres://postgres@127.0.0.1:5432/postgres'
export const MARIADB_URL: string = process.env.BENCH_MARIADB_URL ?? 'mysql://root@127.0.0.1:3306'
export const REDIS_URL: string = process.env.BENCH_REDIS_URL ?? 'redis://127.0.0.1:6379'

/** A PostgreSQL database for one measurement. */
export interface BenchDatabase {
  readonly url: string
  /** The bare driver's pool, of the same size as the store's. */
  readonly pool: pg.Pool
  // biome-ignore lint/suspicious/noExplicitAny: it is of any tables.
  readonly kysely: Kysely<any>
  /** An unconnected client. */
  client(): NotificationClient
}

/** The default pool size of `pg`. */
const CONNECTIONS = 10

/** Creates a database, and drops it after `work`, even if that fails. */
export async function withDatabase(work: (database: BenchDatabase) => Promise<void>): Promise<void> {
  const name = `sallyport_bench_${randomBytes(4).toString('hex')}`
  await administer(`create database ${name}`)
  const url = new URL(POSTGRES_URL)
  url.pathname = `/${name}`
  const at = { connectionString: url.href }
  const pools = [new pg.Pool({ ...at, max: CONNECTIONS }), new pg.Pool({ ...at, max: CONNECTIONS })] as const
  for (const pool of pools) pool.on('error', () => {})
  const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool: pools[1] }) })
  try {
    await work({
      url: url.href,
      pool: pools[0],
      kysely,
      client: () => new pg.Client(at),
    })
  } finally {
    await pools[0].end()
    await kysely.destroy()
    await administer(`drop database ${name} with (force)`)
  }
}

async function administer(text: string): Promise<void> {
  const client = new pg.Client({ connectionString: POSTGRES_URL })
  await client.connect()
  try {
    await client.query(text)
  } finally {
    await client.end()
  }
}

/** Creates a SQLite file in WAL mode, and removes it after `work`, even if that fails. */
export async function withSqlite(work: (db: Kysely<unknown>) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  try {
    const database = new Database(join(folder, 'store.db'))
    database.exec('pragma journal_mode = wal; pragma synchronous = normal')
    const kysely = new Kysely<unknown>({ dialect: new SqliteDialect({ database: keptStatements(database) }) })
    await work(kysely)
    await kysely.destroy()
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Whether a server answers; prints a message if not. */
export async function isThere(address: string, port: number): Promise<boolean> {
  const url = new URL(address)
  const answers = await new Promise<boolean>((resolve) => {
    const socket = createConnection({ host: url.hostname, port: Number(url.port || port) })
    const end = (is: boolean): void => {
      socket.destroy()
      resolve(is)
    }
    socket.once('connect', () => end(true)).once('error', () => end(false))
  })
  if (!answers) console.log(`\nNo server answers at ${url.host}: its measurements are skipped.`)
  return answers
}
