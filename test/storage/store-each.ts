import type { Kysely } from 'kysely'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { DialectName } from '../../src/storage/sql/connection/dialects.ts'
import type { HostKysely } from '../../src/storage/sql/index.ts'
import { type SqlStore, type SqlStoreOptions, sqlStore } from '../../src/storage/sql/index.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'
import type { TestDatabase } from './databases.ts'

/** One database for a `describe`, with separate tables for each test. */
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
}

/** Opens one database for a `describe`. Call it there. */
export function storeEach(open: () => Promise<TestDatabase>): StoreEach {
  let database: TestDatabase
  let db: StoreEach['db']
  let clock = fakeClock()
  let other: SqlStore
  let stores = 0
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
    get prefix() {
      return `s${stores}_`
    },
    get other() {
      return other
    },
    over(host, more) {
      const { dialect, prefix } = self
      return sqlStore({ db: host, dialect, prefix, timeoutMs: 20_000, clock: { now: () => clock.now() }, ...more })
    },
  }
  beforeAll(async () => {
    database = await open()
    db = database.connect()
  }, 120_000)
  afterAll(() => database.close())
  beforeEach(async () => {
    clock = fakeClock()
    stores++
    other = self.over(db)
    await other.migrate()
  })
  return self
}
