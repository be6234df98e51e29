import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { sqlStore } from '../../src/storage/sql/index.ts'
import { type PostgresServer, postgresAt, postgresServer } from './postgres-server.ts'

/** A database with the tables of the store. Copies of it take a fraction of the time of a migration. */
export const TEMPLATE = 'sallyport_template'

/** Enough connections for all files that run at the same time; statistics change only when a test asks for it. */
const FLAGS = ['-c', 'max_connections=400', '-c', 'autovacuum=off']

let own: Promise<PostgresServer> | undefined

/**
 * Port of the PostgreSQL that all test files share: vitest's set-up starts it. A benchmark, which runs without vitest,
 * has its own.
 */
export async function postgresPort(): Promise<number> {
  const given = process.env.SALLYPORT_TEST_POSTGRES_PORT
  if (given !== undefined) return Number(given)
  own ??= startServer()
  return (await own).port
}

/** Stops the server that {@link postgresPort} has started; otherwise a benchmark does not end. */
export async function stopPostgres(): Promise<void> {
  await (await own)?.remove()
}

async function startServer(): Promise<PostgresServer> {
  const server = await postgresServer({ flags: FLAGS })
  const admin = await server.connect()
  await admin.query(`create database ${TEMPLATE}`)
  const pool = new pg.Pool(postgresAt(server.port, TEMPLATE))
  const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
  await sqlStore({ db, dialect: 'postgresql', timeoutMs: 60_000 }).migrate()
  await db.destroy()
  return server
}
