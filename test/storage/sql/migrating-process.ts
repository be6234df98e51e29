/** Migrates the given SQLite file, without a busy time-out. */
import { Kysely, SqliteDialect } from 'kysely'
import Database from 'libsql'
import { sqlStore } from '../../../src/storage/sql/index.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'

const database = new Database(process.argv[2] ?? '', { timeout: 0 })
const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database }) })
const store = sqlStore({ db, dialect: 'sqlite', timeoutMs: UNHURRIED_MS })
process.stdout.write('ready\n')
// All processes begin at the same moment.
process.stdin.once('data', async () => {
  await store.migrate()
  await store.ready()
  await db.destroy()
  process.exit(0)
})
