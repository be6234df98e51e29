import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isSallyportError } from '../../../src/errors.ts'
import type { DialectName } from '../../../src/storage/sql/dialects/dialects.ts'
import { type SqlStoreOptions, sqlStore } from '../../../src/storage/sql/index.ts'
import { MIGRATION_NAMES } from '../../../src/storage/sql/tables/migration-names.ts'
import { freePort } from '../../support/free-port.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { databaseKinds, type TestDatabase } from '../databases.ts'
import { acceptance, claimOne } from '../storing.ts'
import { answerAboutParts, fakeDatabase, run, storeIn, VERSIONS } from './migrating-stores.ts'

const MADE = MIGRATION_NAMES.map((name) => ({ name }))

const OTHERS: Readonly<Record<DialectName, readonly DialectName[]>> = {
  sqlite: ['postgresql', 'mysql', 'mariadb'],
  postgresql: ['sqlite', 'mysql', 'mariadb'],
  mysql: ['sqlite', 'postgresql', 'mariadb'],
  mariadb: ['sqlite', 'postgresql', 'mysql'],
}
const TITLES = { sqlite: 'SQLite', postgresql: 'PostgreSQL', mysql: 'MySQL', mariadb: 'MariaDB' }

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`readiness on ${kind.name}`, () => {
    let database: TestDatabase | undefined
    beforeAll(async () => {
      database = await kind.openEmpty()
    })
    afterAll(() => database?.close())
    let prefixes = 0

    const here = (options: Partial<SqlStoreOptions> = {}) =>
      storeIn(database as TestDatabase, { prefix: `p${++prefixes}_`, ...options })

    it('ready() reports an empty database, and names migrate() as the remedy', async () => {
      const message = await faultOf(here({ prefix: 'none_' }))
      expect(message).toContain('no tables of this store, whose prefix is "none_"')
      expect(message).toContain(
        'Run `await store.migrate()` or `npx sallyport migrate`, or the statements of `await store.pendingMigrations()`',
      )
    })

    it('ready() reports a missing migration', async () => {
      const store = here({ prefix: 'part_' })
      await store.migrate()
      await run((database as TestDatabase).connect(), 'delete from part_migrations')
      expect(await faultOf(store)).toContain('migrated only in part: 0001_tables')
      await store.migrate()
      await store.ready()
    })

    it('ready() names a lost table, and migrate() makes it after the advised steps', async () => {
      const store = here({ prefix: 'gap_' })
      await store.migrate()
      await store.accept(acceptance('d1'))
      const db = (database as TestDatabase).connect()
      await run(db, 'drop table gap_run_sums')
      const message = await faultOf(store)
      expect(message).toMatch(
        /^The database lacks the table gap_run_sums\. Restore it .* delete all rows of .gap_migrations., and run `aw/,
      )
      await expect(store.migrate()).rejects.toMatchObject({ code: 'config_invalid', message })
      await run(db, 'delete from gap_migrations')
      await store.migrate()
      await store.ready()
      expect(await store.findDispatch('default', 'd1')).toBeDefined()
    })

    it('ready() names a lost column, and migrate() makes its table after the advised steps', async () => {
      const store = here({ prefix: 'short_' })
      await store.migrate()
      const db = (database as TestDatabase).connect()
      await run(db, dropColumn('short_runs', 'tags'))
      const message = await faultOf(store)
      expect(message).toContain(
        'The table short_runs lacks the column tags: another program made it, or it was changed by hand.',
      )
      expect(message).toMatch(
        /another `prefix`; or remove the table, delete all rows of .short_migrations., and run `await store\.migrate/,
      )
      await here({ prefix: 'apart_' }).migrate()
      await run(db, 'drop table short_runs')
      await run(db, 'delete from short_migrations')
      await store.migrate()
      await store.ready()
    })

    it('ready() and migrate() report a table of migrations that another program made', async () => {
      const db = (database as TestDatabase).connect()
      await run(db, 'create table other_migrations (name varchar(20), batch integer)')
      await run(db, `insert into other_migrations (name, batch) values ('001_first', 1)`)
      const store = here({ prefix: 'other_' })
      const message = await faultOf(store)
      expect(message).toMatch(
        /^The table .other_migrations. lacks a column: another program made it\. Give the store another `prefix`, or/,
      )
      await expect(store.migrate()).rejects.toMatchObject({ code: 'config_invalid', message })
      await run(db, 'alter table other_migrations rename to other_steps')
      await store.migrate()
      await store.ready()
    })

    it('ready() and migrate() accept the additions of a newer version', async () => {
      const store = here({ prefix: 'newer_' })
      await store.migrate()
      const db = (database as TestDatabase).connect()
      await run(db, `insert into newer_migrations (name, migrated_at) values ('9999_later', 1)`)
      await run(db, 'alter table newer_jobs add column later integer')
      await store.ready()
      await store.migrate()
      await store.accept(acceptance('d1'))
      expect((await claimOne(store)).dispatch.dispatchId).toBe('d1')
    })

    it.skipIf(kind.name !== 'postgresql')('ready() names a missing function, and migrate() makes it', async () => {
      const store = here({ prefix: 'lost_' })
      await store.migrate()
      const db = (database as TestDatabase).connect()
      const [first] = await run<{ name: string }>(db, `select proname as name from pg_proc where proname like 'lost_%'`)
      await run(db, `drop function ${first?.name}`)
      expect(await faultOf(store)).toContain(
        `lacks functions of this version of the store, such as ${first?.name}. Run `,
      )
      await store.migrate()
      await store.ready()
    })

    it.each(OTHERS[kind.name])('ready() refuses the dialect %s', async (dialect) => {
      const store = here({ dialect })
      const message = await faultOf(store)
      expect(message).toContain(
        `The database is ${TITLES[kind.name]}, but the dialect of the store is ${TITLES[dialect]}`,
      )
      expect(message).toContain(`dialect '${kind.name}'`)
      await expect(store.migrate()).rejects.toThrow(message)
    })

    it('ready() reports closed connections', async () => {
      const db = (database as TestDatabase).connect()
      const store = here({ db })
      await run(db, 'select 1')
      await db.destroy()
      expect(await faultOf(store)).toContain('The pool of the database was ended.')
      await expect(store.migrate()).rejects.toMatchObject({ code: 'config_invalid' })
    })
  })

describe('readiness', () => {
  it.each([
    ['sqlite', 'SQLite 3.37.2', 'SQLite 3.37.2, which is too old. Use 3.38 or'],
    ['postgresql', 'PostgreSQL 11.22 on aarch64', 'PostgreSQL 11.22, which is too old. Use 12 or'],
    ['postgresql', 'PostgreSQL 8.0.2 on i686, Redshift 1.0', 'PostgreSQL 8.0.2, which is too old'],
    ['mysql', '8.0.16', 'MySQL 8.0.16, which is too old. Use 8.0.17 or'],
    ['mysql', '5.7.44-log', 'MySQL 5.7.44, which is too old'],
    ['mariadb', '10.5.29-MariaDB-log', 'MariaDB 10.5.29, which is too old. Use 10.6 or'],
    ['postgresql', 'CockroachDB CCL v23.1.11 (x86_64)', 'does not know this database'],
    ['mysql', '10.11.6-MariaDB', 'The database is MariaDB, but the dialect of the store is MySQL'],
    ['mariadb', '8.4.2', 'The database is MySQL, but the dialect of the store is MariaDB'],
  ] as const)('ready() on %s refuses %s', async (dialect, version, message) => {
    const { db } = fakeDatabase(() => [{ version }])
    expect(await faultOf(sqlStore({ db, dialect, timeoutMs: UNHURRIED_MS }))).toContain(message)
  })

  it.each([
    ['sqlite', 'SQLite 3.38.0'],
    ['sqlite', 'SQLite 4.0.0'],
    ['postgresql', 'PostgreSQL 12.0 on x'],
    ['postgresql', 'PostgreSQL 19beta1 on x'],
    ['mysql', '8.0.17'],
    ['mysql', '9.1.0-commercial'],
    ['mariadb', '10.6.0-MariaDB'],
    ['mariadb', '5.5.5-10.11.6-MariaDB-1'],
    ['mariadb', '11.4.2-MariaDB-ubu2404'],
  ] as const)('ready() on %s accepts %s', async (dialect, version) => {
    const { db } = fakeDatabase((text) => {
      if (text.includes('version()')) return [{ version }]
      return answerAboutParts(text) ?? MADE
    })
    await sqlStore({ db, dialect, timeoutMs: UNHURRIED_MS }).ready()
  })

  it.each([
    [
      'postgresql',
      'PostgreSQL 16.4 on x',
      { s0: 'LATIN1', s1: 'off' },
      'encoding is LATIN1. Use a database of the encoding UTF8',
    ],
    [
      'postgresql',
      'PostgreSQL 16.4 on x',
      { s0: 'UTF8', s1: 'on' },
      'can only be read. Give the store the primary server',
    ],
    ['mysql', '8.4.2', { s0: 'NO_BACKSLASH_ESCAPES', s1: 'utf8mb4', s2: 1 }, 'has NO_BACKSLASH_ESCAPES. Leave it out'],
    ['mariadb', '10.11.6-MariaDB', { s0: '', s1: 'latin1', s2: 1 }, 'character set is latin1. Leave the `charset`'],
    ['mariadb', '10.11.6-MariaDB', { s0: '', s1: 'utf8mb4', s2: 0 }, 'autocommit is off. Leave it on'],
  ] as const)('ready() on %s %s refuses the settings %j', async (dialect, version, settings, message) => {
    const { db } = fakeDatabase((text) => [text.includes('version()') ? { version } : settings])
    expect(await faultOf(sqlStore({ db, dialect, timeoutMs: UNHURRIED_MS }))).toContain(message)
  })

  it('ready() names the privileges that a user lacks', async () => {
    const { db } = fakeDatabase((text) => {
      if (text.includes('version()')) return [{ version: 'PostgreSQL 16.4 on x' }]
      if (text.includes('current_setting')) return [{ s0: 'UTF8', s1: 'off' }]
      throw Object.assign(new Error('permission denied for table sallyport_migrations'), { code: '42501' })
    })
    expect(await faultOf(sqlStore({ db, dialect: 'postgresql', timeoutMs: UNHURRIED_MS }))).toContain(
      'Grant it SELECT, INSERT, UPDATE and DELETE',
    )
  })

  it('ready() times out on a database that does not answer', async () => {
    const { db, asked } = fakeDatabase(() => new Promise(() => {}))
    expect(await faultOf(sqlStore({ db, dialect: 'mysql', timeoutMs: 50 }))).toContain('did not answer in time')
    expect(asked).toHaveLength(1)
  })

  it('ready() times out on a server that accepts a connection and stays silent', async () => {
    const held: Socket[] = []
    const server = createServer((socket) => held.push(socket)).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const db = pooled((server.address() as AddressInfo).port)
    expect(await faultOf(sqlStore({ db, dialect: 'postgresql', timeoutMs: 100 }))).toContain('did not answer in time')
    for (const socket of held) socket.destroy()
    server.close()
    await db.destroy()
  })

  it('ready() reports a server that closes the connection, such as a proxy without its database', async () => {
    const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const db = pooled((server.address() as AddressInfo).port)
    const store = sqlStore({ db, dialect: 'postgresql', timeoutMs: UNHURRIED_MS })
    await expect(store.ready()).rejects.toMatchObject({
      code: 'no_answer',
      message: `The connection to the database was closed. Check that a database of this kind runs behind its host and port.`,
    })
    server.close()
    await db.destroy()
  })

  it("ready() reports the driver's code and where it asked, and nothing else of the connection", async () => {
    const port = await freePort()
    const db = pooled(port)
    const fault: unknown = await sqlStore({ db, dialect: 'postgresql', timeoutMs: UNHURRIED_MS })
      .ready()
      .catch((cause: unknown) => cause)
    expect(String(fault)).toContain(`its driver says ECONNREFUSED at 127.0.0.1:${port}. Check that it runs`)
    expect(JSON.stringify([String(fault), fault, (fault as Error).cause ?? null])).not.toMatch(/hunter2|jane|prices/)
    await db.destroy()
  })

  it.each([
    [{ hostname: 'db.internal' }, ' for db.internal.'],
    [{ address: '::1', port: 5432 }, ' at [::1]:5432.'],
    [{ address: '/run/postgresql/.s.PGSQL.5432' }, ' at /run/postgresql/.s.PGSQL.5432.'],
    [
      {
        errors: [
          { address: '127.0.0.1', port: 3306 },
          { address: '::1', port: 3306 },
        ],
      },
      ' at 127.0.0.1:3306.',
    ],
    [{ hostname: 'jane:hunter2@db' }, '.'],
    [{ address: 'postgresql://jane:hunter2@db', port: 5432 }, '.'],
    [{ address: '127.0.0.1', port: 'hunter2' }, '.'],
    [{ errors: [] }, '.'],
    [{ errors: [null] }, '.'],
  ])('ready() reads %j as the place%s', async (members, place) => {
    const { db } = fakeDatabase(() => {
      throw Object.assign(new Error('jane:hunter2@db'), { code: 'ENOTFOUND', ...members })
    })
    const message = await faultOf(sqlStore({ db, dialect: 'postgresql', timeoutMs: UNHURRIED_MS }))
    expect(message).toBe(
      `The database cannot be used: its driver says ENOTFOUND${place} Check that it runs, and how it is reached.`,
    )
  })

  it("ready() ignores a code that is not a driver's code", async () => {
    const { db } = fakeDatabase(() => {
      throw Object.assign(new Error('no'), { code: 'postgresql://jane:hunter2@db/prices' })
    })
    const message = await faultOf(sqlStore({ db, dialect: 'postgresql', timeoutMs: UNHURRIED_MS }))
    expect(message).toContain('The database cannot be used.')
    expect(message).not.toContain('hunter2')
  })

  it('ready() only reads', async () => {
    const { db, asked } = fakeDatabase((text) =>
      text.includes('version()') ? [{ version: VERSIONS.mysql }] : (answerAboutParts(text) ?? MADE),
    )
    await sqlStore({ db, dialect: 'mysql', timeoutMs: UNHURRIED_MS }).ready()
    expect(asked.length).toBe(5)
    expect(asked.filter((text) => !text.startsWith('select '))).toEqual([])
  })
})

/** The message of the error that `ready()` must throw. */
async function faultOf(store: { ready(): Promise<void> }): Promise<string> {
  const fault: unknown = await store.ready().then(
    () => 'it was ready',
    (cause: unknown) => cause,
  )
  if (!isSallyportError(fault)) throw fault
  expect(fault.code).toMatch(/^(?:config_invalid|no_answer)$/)
  return fault.message
}

function dropColumn(table: string, column: string): string {
  return `alter table ${table} drop column ${column}`
}

/** With a user, a password and a database name that must not leak. */
function pooled(port: number): Kysely<unknown> {
  const pool = new pg.Pool({ connectionString: `postgresql://jane:hunter2@127.0.0.1:${port}/prices` })
  pool.on('error', () => {})
  return new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })
}
