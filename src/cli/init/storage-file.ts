export const STORES = ['memory', 'sqlite', 'postgresql'] as const
export type StoreName = (typeof STORES)[number]

/** Stores in a database: a file of its own opens and closes it. */
type DatabaseName = Exclude<StoreName, 'memory'>

export function storageFile(store: DatabaseName, isTypeScript: boolean): string {
  return isTypeScript ? FILES[store] : FILES[store].replaceAll(TYPES, '')
}

/** Every type in the files below. */
const TYPES = /type SqliteDatabase, |: Promise<SqliteDatabase>|<string, ReturnType<.*?>>|<unknown>/g

const FILES: Readonly<Record<DatabaseName, string>> = {
  sqlite: `import { Kysely, type SqliteDatabase, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { sqlStore } from 'sallyport/storage/sql'

async function database(): Promise<SqliteDatabase> {
  // A driver that waits within SQLite stops the event loop. The store tries again by itself, without blocking.
  const file = new Database(process.env.OUTBOUND_FILE ?? 'outbound.db', { timeout: 0 })
  file.exec('pragma journal_mode = wal; pragma synchronous = full')
  const statements = new Map<string, ReturnType<SqliteDatabase['prepare']>>()
  return {
    prepare(text) {
      const statement = statements.get(text) ?? file.prepare(text)
      statements.set(text, statement)
      return statement
    },
    close: () => void file.close(),
  }
}

const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database }) })
const store = sqlStore({ db, dialect: 'sqlite' })

export const storage = { store, open: () => store.migrate(), close: () => db.destroy() }
`,
  postgresql: `import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { postgresQueue } from 'sallyport/queue/postgres'
import { sqlStore } from 'sallyport/storage/sql'

const connection = { connectionString: process.env.DATABASE_URL, keepAlive: true }
const pool = new pg.Pool({ ...connection, max: 10, connectionTimeoutMillis: 1_000 })
// Without both listeners, a lost connection ends the process.
pool.on('error', () => {})
pool.on('connect', (client) => client.on('error', () => {}))

const db = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
const store = sqlStore({ db, dialect: 'postgresql', notify: 'sallyport_due' })
const queue = postgresQueue({ client: () => new pg.Client({ ...connection, connectionTimeoutMillis: 5_000 }) })

export const storage = {
  store,
  queue,
  open: () => store.migrate(),
  close: () => queue.close().then(() => db.destroy()),
}
`,
}
