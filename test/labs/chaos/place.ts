import { Kysely, MysqlDialect, PostgresDialect, type SqliteDatabase, SqliteDialect, sql } from 'kysely'
import type { PoolConfig } from 'pg'
import { keptStatements } from '../../support/kept-statements.ts'

/** Where a database is, as one process can tell it another. */
export type Place =
  | { readonly dialect: 'postgresql'; readonly port: number; readonly database: string; readonly pool?: PoolConfig }
  | { readonly dialect: 'mariadb'; readonly port: number; readonly database: string }
  | { readonly dialect: 'sqlite'; readonly file: string }

/** Statements that this process may run at the same time. */
const CONNECTIONS = 5

/** Each host loads its own driver alone. */
export async function connectTo(place: Place): Promise<Kysely<unknown>> {
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
  // A connection that is lost while it is used says so itself: unheard, that ends the process.
  pool.on('connect', (client) => client.on('error', () => {}))
  pool.on('error', () => {})
  return new Kysely({ dialect: new PostgresDialect({ pool }) })
}

/**
 * A process waits within SQLite for others to be through, as hosts' drivers do. A killed one loses nothing that
 * `synchronous = full` would keep.
 */
async function openFile(path: string): Promise<SqliteDatabase> {
  const { default: Database } = await import('libsql')
  const database = new Database(path, { timeout: 1_000 })
  database.exec('pragma journal_mode = wal; pragma synchronous = normal')
  return keptStatements(database)
}

/** What a database says that it is. */
export async function versionOf(place: Place): Promise<string> {
  const db = await connectTo(place)
  const asked = place.dialect === 'sqlite' ? sql`sqlite_version()` : sql`version()`
  const { rows } = await sql<{ readonly version: string }>`select ${asked} as version`.execute(db)
  await db.destroy()
  const said = rows[0]?.version ?? 'unknown'
  if (place.dialect === 'postgresql') return said.split(' ').slice(0, 2).join(' ')
  return `${place.dialect === 'sqlite' ? 'SQLite' : 'MariaDB'} ${said}`
}
