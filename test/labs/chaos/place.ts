import { Kysely, MysqlDialect, PostgresDialect, type SqliteDatabase, SqliteDialect, sql } from 'kysely'
import type { PoolConfig } from 'pg'
import { keptStatements } from '../../support/kept-statements.ts'

/** Address of a database, which processes can pass on. */
export type Place = SqlPlace | RedisPlace

export type SqlPlace =
  | { readonly dialect: 'postgresql'; readonly port: number; readonly database: string; readonly pool?: PoolConfig }
  | { readonly dialect: 'mariadb'; readonly port: number; readonly database: string }
  | { readonly dialect: 'sqlite'; readonly file: string }

/** Documents under a name in Redis. */
export interface RedisPlace {
  readonly dialect: 'redis'
  readonly port: number
  readonly name: string
}

/** Concurrent statements of this process. */
const CONNECTIONS = 5

/** Connects with the driver that the address needs, and loads no other. */
export async function connectTo(place: SqlPlace): Promise<Kysely<unknown>> {
  if (place.dialect === 'sqlite') {
    return new Kysely({ dialect: new SqliteDialect({ database: await openFile(place.file) }) })
  }
  const at = { host: '127.0.0.1', port: place.port, database: place.database }
  if (place.dialect === 'mariadb') {
    const { default: mysql } = await import('mysql2')
    return new Kysely({
      dialect: new MysqlDialect({ pool: mysql.createPool({ ...at, user: 'root', connectionLimit: CONNECTIONS }) }),
    })
  }
  const { default: pg } = await import('pg')
  const pool = new pg.Pool({ ...at, user: 'postgres', password: 'postgres', max: CONNECTIONS, ...place.pool })
  // A connection that is lost while in use emits an error event, which ends the process if unhandled.
  pool.on('connect', (client) => client.on('error', () => {}))
  pool.on('error', () => {})
  return new Kysely({ dialect: new PostgresDialect({ pool }) })
}

/**
 * A process does not wait within SQLite for other writers, because that would stop its event loop. A killed process loses nothing
 * that `synchronous = full` would keep.
 */
async function openFile(path: string): Promise<SqliteDatabase> {
  const { default: Database } = await import('libsql')
  const database = new Database(path, { timeout: 0 })
  database.exec('pragma journal_mode = wal; pragma synchronous = normal')
  return keptStatements(database)
}

/** Whether a process is writing the file of SQLite. Other databases do not lock all of their data. */
export async function isLocked(place: Place): Promise<boolean> {
  if (place.dialect !== 'sqlite') return false
  const { default: Database } = await import('libsql')
  const database = new Database(place.file, { timeout: 0 })
  try {
    database.exec('begin immediate; rollback')
    return false
  } catch (error) {
    if (error instanceof Database.SqliteError && error.code === 'SQLITE_BUSY') return true
    throw error
  } finally {
    database.close()
  }
}

/** The version text of a database. */
export async function versionOf(place: SqlPlace): Promise<string> {
  const db = await connectTo(place)
  const asked = place.dialect === 'sqlite' ? sql`sqlite_version()` : sql`version()`
  const { rows } = await sql<{ readonly version: string }>`select ${asked} as version`.execute(db)
  await db.destroy()
  const said = rows[0]?.version ?? 'unknown'
  if (place.dialect === 'postgresql') return said.split(' ').slice(0, 2).join(' ')
  return `${place.dialect === 'sqlite' ? 'SQLite' : 'MariaDB'} ${said}`
}
