import { CompiledQuery, type Kysely } from 'kysely'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { Records } from '../../src/storage/engine/records.ts'
import { openDatabase } from '../../src/storage/sql/connection/database.ts'
import { DIALECTS, type DialectName } from '../../src/storage/sql/dialects/dialects.ts'
import type { HostKysely } from '../../src/storage/sql/index.ts'
import { type SqlStore, type SqlStoreOptions, sqlStore } from '../../src/storage/sql/index.ts'
import { sqlRecords } from '../../src/storage/sql/sql-records.ts'
import { TABLES } from '../../src/storage/sql/tables/tables.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import { UNHURRIED_MS } from '../support/unhurried.ts'
import type { TestDatabase } from './databases.ts'

/** One database for a `describe`, whose tables are empty before each test. */
export interface StoreEach {
  // biome-ignore lint/suspicious/noExplicitAny: it is of any tables.
  readonly db: Kysely<any>
  readonly clock: FakeClock
  readonly dialect: DialectName
  readonly prefix: string
  /** A second store over the same tables, as another process has it. */
  readonly other: SqlStore
  /** A further store, through a database connection that a test controls. */
  over(host: HostKysely, more?: Partial<SqlStoreOptions>): SqlStore
  /** The records of a further store. */
  records(): Records
}

/**
 * Deletes all rows of the stores of earlier tests, once nothing of them runs in the background. Waits for other writers:
 * SQLite has one at a time.
 */
export async function emptyTables(database: TestDatabase, db: StoreEach['db']): Promise<void> {
  await database.idle()
  const texts = Object.keys(TABLES).map((table) => `delete from sallyport_${table}`)
  const run = (on: StoreEach['db'], text: string) => on.executeQuery(CompiledQuery.raw(text))
  for (let tries = 1; ; tries++) {
    // PostgreSQL takes several statements at once.
    const emptied =
      database.dialect === 'postgresql'
        ? run(db, texts.join('; '))
        : db.transaction().execute(async (own) => {
            for (const text of texts) await run(own, text)
          })
    const failed = await emptied.then(
      () => undefined,
      (cause: unknown) => ({ cause }),
    )
    if (!failed) return
    if (tries === 1_000) throw failed.cause
    await new Promise((resolve) => setImmediate(resolve))
  }
}

/** Opens one database for a `describe`. Call it there. */
export function storeEach(open: () => Promise<TestDatabase>): StoreEach {
  let database: TestDatabase
  let db: StoreEach['db']
  let clock = fakeClock()
  let other: SqlStore
  const self: StoreEach = {
    get db() {
      return db
    },
    get clock() {
      return clock
    },
    get dialect() {
      return database.dialect
    },
    prefix: 'sallyport_',
    get other() {
      return other
    },
    over(host, more) {
      const { dialect, prefix } = self
      return sqlStore({
        db: host,
        dialect,
        prefix,
        timeoutMs: UNHURRIED_MS,
        clock: { now: () => clock.now() },
        ...more,
      })
    },
    records() {
      const { prefix } = self
      const time = { now: () => clock.now() }
      return sqlRecords(
        openDatabase({ db, dialect: DIALECTS[database.dialect], prefix, timeoutMs: UNHURRIED_MS, clock: time }),
      )
    },
  }
  beforeAll(async () => {
    database = await open()
    db = database.connect()
  }, 120_000)
  afterAll(() => database.close())
  beforeEach(async () => {
    clock = fakeClock()
    other = self.over(db)
    await emptyTables(database, db)
  })
  return self
}
