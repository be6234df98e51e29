import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Kysely, Migrator, PostgresDialect, SqliteDialect } from 'kysely'
import Database from 'libsql'
import pg from 'pg'
import { afterEach, describe, expect, it } from 'vitest'
import type { DialectName } from '../../../src/storage/sql/dialects/dialects.ts'
import { sqlStatements, sqlStore } from '../../../src/storage/sql/index.ts'
import { MIGRATION_NAMES } from '../../../src/storage/sql/tables/migration-names.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { type DatabaseKind, databaseKinds, openPostgresql, type TestDatabase } from '../databases.ts'
import { acceptance, claimOne } from '../storing.ts'
import { answerAboutParts, fakeDatabase, run, shapeOf, storeIn, VERSIONS } from './migrating-stores.ts'

const MADE = MIGRATION_NAMES.map((name) => ({ name }))

const DIALECT_NAMES: readonly DialectName[] = ['sqlite', 'postgresql', 'mysql', 'mariadb']
/** The statements that take and release the lock. */
const LOCKS: Readonly<Record<DialectName, readonly [lock: string, release: string]>> = {
  sqlite: ['begin exclusive', 'commit'],
  postgresql: ['pg_advisory_xact_lock', 'commit'],
  mysql: ['get_lock', 'release_lock'],
  mariadb: ['get_lock', 'release_lock'],
}

const opened: TestDatabase[] = []

async function open(kind: DatabaseKind): Promise<TestDatabase> {
  const database = await kind.openEmpty()
  opened.push(database)
  return database
}

afterEach(async () => {
  for (const database of opened.splice(0)) await database.close()
})

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`migrations on ${kind.name}`, () => {
    it('migrate() creates what the store needs, and does nothing the second time', async () => {
      const database = await open(kind)
      const store = storeIn(database)
      await store.migrate()
      await store.accept(acceptance('d1'))
      const made = await shapeOf(database)
      await store.migrate()
      expect(await shapeOf(database)).toEqual(made)
      expect((await claimOne(store)).dispatch.dispatchId).toBe('d1')
    })

    it('pendingMigrations() returns the statements that migrate() would run, and changes nothing', async () => {
      const database = await open(kind)
      const store = storeIn(database)
      const before = await shapeOf(database)
      expect(await store.pendingMigrations()).toEqual(sqlStatements({ dialect: kind.name }))
      expect(await shapeOf(database)).toEqual(before)
      await store.migrate()
      expect(await store.pendingMigrations()).toEqual([])
    })

    it('Five concurrent calls on their own pools make each migration once', async () => {
      const database = await open(kind)
      const pools = Array.from({ length: 5 }, () => database.connect())
      // A synchronous driver blocks this process, so the others could not go on.
      if (kind.name === 'sqlite') for (const db of pools) await run(db, 'pragma busy_timeout = 0')
      const stores = pools.map((db) => storeIn(database, { db }))
      await Promise.all(stores.map((store) => store.migrate()))
      await Promise.all(stores.map((store) => store.ready()))
      expect(await run(database.connect(), 'select name from sallyport_migrations')).toEqual(MADE)
    })

    it('One pool migrates two independent prefixes at once', async () => {
      const database = await open(kind)
      const db = database.connect()
      const [one, other] = ['one_', 'other_'].map((prefix) => storeIn(database, { db, prefix }))
      await Promise.all([one?.migrate(), other?.migrate()])
      await one?.accept(acceptance('d1'))
      expect(await one?.findDispatch('default', 'd1')).toBeDefined()
      expect(await other?.findDispatch('default', 'd1')).toBeUndefined()
      await other?.accept(acceptance('d1'))
      expect(await other?.findDispatch('default', 'd1')).toBeDefined()
    })

    it('migrate() refuses a database that a newer version migrated for itself alone, and changes nothing', async () => {
      const database = await open(kind)
      const store = storeIn(database)
      await store.migrate()
      const db = database.connect()
      await run(db, `insert into sallyport_migrations (name, migrated_at) values ('9999_later_breaking', 1)`)
      await run(db, 'drop table sallyport_spends')
      const before = await shapeOf(database)
      const message =
        'A newer version of Sallyport migrated the database to migration 9999_later_breaking, which this version cannot work with; it knows ' +
        `migrations up to ${MIGRATION_NAMES.at(-1)}. Run a version that knows migration 9999_later_breaking, or restore a backup from before it: ` +
        'migrations are not undone.'
      const refused = { code: 'config_invalid', message }
      await expect(store.migrate()).rejects.toMatchObject(refused)
      await expect(store.pendingMigrations()).rejects.toMatchObject(refused)
      await expect(store.ready()).rejects.toMatchObject(refused)
      expect(await shapeOf(database)).toEqual(before)
    })

    it('migrate() continues where a failed call stopped', async () => {
      const database = await open(kind)
      const db = database.connect()
      const texts = sqlStatements({ dialect: kind.name }).flatMap(({ statements }) => statements)
      for (const text of texts.slice(0, 5)) await run(db, text)
      const store = storeIn(database, { db })
      await expect(store.ready()).rejects.toThrow('only in part: 0001_tables, 0002_plugins')
      await store.migrate()
      await store.ready()
    })

    it('A store is ready after the printed statements were run by hand, and migrates nothing more', async () => {
      const byHand = await open(kind)
      for (const { statements } of sqlStatements({ dialect: kind.name, prefix: 'hand_' }))
        for (const text of statements) await run(byHand.connect(), text)
      const store = storeIn(byHand, { prefix: 'hand_' })
      await store.ready()
      const made = await shapeOf(byHand)
      await store.migrate()
      expect(await shapeOf(byHand)).toEqual(made)
      const byStore = await open(kind)
      await storeIn(byStore, { prefix: 'hand_' }).migrate()
      expect(await shapeOf(byStore)).toEqual(made)
    })

    it("Migrations leave the host's own tables and migrations alone", async () => {
      const database = await open(kind)
      const db = database.connect()
      const up = (own: Kysely<unknown>) => run(own, 'create table orders (id integer primary key)').then(() => {})
      const host = new Migrator({ db, provider: { getMigrations: async () => ({ '0001_tables': { up } }) } })
      expect((await host.migrateToLatest()).error).toBeUndefined()
      const store = storeIn(database, { db })
      await store.migrate()
      expect((await host.migrateToLatest()).error).toBeUndefined()
      await store.ready()
      await run(db, 'insert into orders values (1)')
    })

    it("A migration is not recorded while a host's table has the name of a store's table", async () => {
      const database = await open(kind)
      const db = database.connect()
      await run(db, 'create table sallyport_spends (a integer)')
      const store = storeIn(database, { db })
      await expect(store.migrate()).rejects.toMatchObject({
        code: 'config_invalid',
        message: expect.stringMatching(
          /^The table sallyport_spends lacks .* Give the store another `prefix`; or remove the table, and run /,
        ),
      })
      await run(db, 'drop table sallyport_spends')
      await store.migrate()
      await store.ready()
    })

    it("migrate() throws the driver's error if no table can be made", async () => {
      const database = await open(kind)
      const db = database.connect()
      await run(db, 'create view sallyport_migrations as select 1 as name')
      const refused: unknown = await storeIn(database, { db })
        .migrate()
        .catch((cause: unknown) => cause)
      expect(refused).toBeInstanceOf(Error)
    })
  })

describe('migrations', () => {
  it.each(DIALECT_NAMES)('On %s, migrate() runs exactly the printed statements', async (dialect) => {
    const { db, asked } = fakeDatabase((text) => {
      if (text.includes('version()')) return [{ version: VERSIONS[dialect] }]
      if (text.includes('get_lock')) return [{ held: 1 }]
      return answerAboutParts(text)
    })
    await sqlStore({ db, dialect }).migrate()
    const printed = sqlStatements({ dialect }).flatMap(({ statements }) => statements)
    expect(asked.filter((text) => /^(create|insert|alter|drop|update|delete)/.test(text))).toEqual(printed)
  })

  it.each(DIALECT_NAMES)('On %s, one process migrates at a time', async (dialect) => {
    const { db, asked } = fakeDatabase((text) => {
      if (text.includes('version()')) return [{ version: VERSIONS[dialect] }]
      if (text.includes('get_lock')) return [{ held: 1 }]
      return answerAboutParts(text)
    })
    await sqlStore({ db, dialect }).migrate()
    const [lock, release] = LOCKS[dialect]
    const defining = asked.flatMap((text, at) => (/^(create|insert)/.test(text) ? [at] : []))
    const [first = 0, last = 0] = [defining[0], defining.at(-1)]
    expect(asked.findIndex((text) => text.includes(lock))).toBeLessThan(first)
    expect(asked.slice(last + 1)[0]).toContain(release)
    expect(asked.slice(first, last).filter((text) => text.includes(release))).toEqual([])
  })

  it.each(DIALECT_NAMES)('On %s, all names fit with the longest prefix', (dialect) => {
    const prefix = 'p'.repeat(30)
    const texts = sqlStatements({ dialect, prefix }).flatMap(({ statements }) => statements)
    const names = texts.flatMap((text) => text.match(/p{30}\w*/g) ?? [])
    expect(names.length).toBeGreaterThan(20)
    expect(names.filter((name) => name.length > 63)).toEqual([])
  })

  it('On MySQL, migrate() gives up if another process holds the lock for too long', async () => {
    const { db, asked } = fakeDatabase((text) => {
      if (text.includes('version()')) return [{ version: VERSIONS.mysql }]
      return text.includes('get_lock') ? [{ held: 0 }] : []
    })
    const refused = { code: 'config_invalid', message: expect.stringContaining('Another process') }
    await expect(sqlStore({ db, dialect: 'mysql' }).migrate()).rejects.toMatchObject(refused)
    expect(asked.filter((text) => /^(create|insert)|release_lock/.test(text))).toEqual([])
  })

  it('Concurrent processes migrate one SQLite file once, without a busy time-out', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'sallyport-migrating-'))
    const file = join(folder, 'test.db')
    const children: ChildProcess[] = []
    try {
      for (let at = 0; at < 3; at++) children.push(migratingProcess(file))
      const ends = children.map(endOf)
      await Promise.all(children.map((child) => child.stdout && once(child.stdout, 'data')))
      for (const child of children) child.stdin?.write('go\n')
      expect(await Promise.all(ends)).toEqual(['', '', ''])
      const db = new Kysely<unknown>({ dialect: new SqliteDialect({ database: new Database(file) }) })
      expect(await run(db, 'select name from sallyport_migrations')).toEqual(MADE)
      await db.destroy()
    } finally {
      for (const child of children) child.kill('SIGKILL')
      await rm(folder, { recursive: true, force: true })
    }
  })

  it('On PostgreSQL, migrate() sets when tables with short-lived rows are vacuumed', async () => {
    const database = await openPostgresql()
    opened.push(database)
    const of = "select relname, reloptions from pg_class where reloptions is not null and relname like 'sallyport%'"
    const rows = await run(database.connect(), of)
    const vacuum = 'autovacuum_vacuum_scale_factor=0.02'
    expect(rows).toContainEqual({ relname: 'sallyport_jobs', reloptions: ['fillfactor=60', vacuum] })
    expect(rows).toContainEqual({ relname: 'sallyport_states', reloptions: ['fillfactor=45', vacuum] })
  })

  it('On PostgreSQL, migrate() works in the schema of each pool', async () => {
    const database = await openPostgresql('template1')
    opened.push(database)
    const first = database.connect()
    const { port, name } = (await run<{ port: number; name: string }>(first, PLACE))[0] ?? { port: 0, name: '' }
    await storeIn(database, { db: first }).migrate()
    await run(first, 'create schema tenant')
    const at = { host: '127.0.0.1', port, user: 'postgres', password: 'postgres', database: name }
    const pool = new pg.Pool({ ...at, options: '-c search_path=tenant', max: 2 })
    pool.on('error', () => {})
    const second = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
    const store = sqlStore({ db: second, dialect: 'postgresql', timeoutMs: UNHURRIED_MS })
    await expect(store.ready()).rejects.toThrow('no tables of this store')
    await store.migrate()
    await store.ready()
    await second.destroy()
  })
})

const PLACE = `select current_setting('port')::int as port, current_database() as name`

function migratingProcess(file: string): ChildProcess {
  const script = fileURLToPath(new URL('migrating-process.ts', import.meta.url))
  return spawn(process.execPath, ['--import', 'tsx', script, file], { stdio: ['pipe', 'pipe', 'pipe'] })
}

/** The error output of an ended process; empty if it ended well. */
async function endOf(child: ChildProcess): Promise<string> {
  let said = ''
  child.stderr?.on('data', (chunk) => {
    said += String(chunk)
  })
  const [code] = await once(child, 'close')
  return code === 0 ? '' : `${code}: ${said}`
}
