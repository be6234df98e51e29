import { CamelCasePlugin } from 'kysely'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { isSallyportError } from '../../../src/errors.ts'
import { type SqlStoreOptions, sqlStatements, sqlStore } from '../../../src/storage/sql/index.ts'
import { databaseKinds, type TestDatabase } from '../databases.ts'
import { acceptance, claim, claimOne, ids, keyed, lease } from '../storing.ts'
import { fakeDatabase, run, storeIn } from './migrating-stores.ts'

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`a store on ${kind.name}`, () => {
    let database: TestDatabase | undefined
    beforeAll(async () => {
      database = await kind.open()
    })
    afterAll(() => database?.close())

    it("A store ignores the plugins of the host's Kysely", async () => {
      const db = (database as TestDatabase).connect().withPlugin(new CamelCasePlugin())
      const store = storeIn(database as TestDatabase, { db, prefix: 'camel_case_' })
      await store.migrate()
      await store.ready()
      await store.accept(keyed('d1'))
      expect((await store.accept(keyed('d2'))).outcome).toBe('replayed')
      const claimed = await claimOne(store)
      expect(await store.settle({ ...lease(claimed), to: 'sent' })).toMatchObject({ live: true })
      await db.transaction().execute((own) => store.within(own).accept(acceptance('d3')))
      expect((await store.findDispatch('default', 'd3'))?.deliveries).toHaveLength(1)
    })

    it('Stores with one prefix share their rows', async () => {
      const db = (database as TestDatabase).connect()
      const stores = [0, 1, 2].map(() => storeIn(database as TestDatabase, { db, prefix: 'shared_' }))
      // Two connections of one process to SQLite would block one another.
      if (kind.name !== 'sqlite') stores.push(storeIn(database as TestDatabase, { prefix: 'shared_' }))
      await Promise.all(stores.map((store) => store.migrate()))
      const accepted = await Promise.all(stores.map((store, at) => store.accept(keyed(`d${at}`))))
      expect(accepted.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(1)
      expect(accepted.filter(({ outcome }) => outcome === 'replayed')).toHaveLength(stores.length - 1)
      await Promise.all(stores.map((store, at) => store.accept(acceptance(`e${at}`))))
      const claimed = await Promise.all(stores.map((store) => claim(store, { a: 2 })))
      const taken = claimed.flatMap(({ deliveries }) => ids(deliveries))
      expect(new Set(taken).size).toBe(taken.length)
    })

    it('Every claim has a new fence', async () => {
      const store = storeIn(database as TestDatabase, { prefix: 'fences_' })
      await store.migrate()
      await store.accept(acceptance('d1'))
      await store.accept(acceptance('d2'))
      const fences = [await claimOne(store), await claimOne(store)].map(({ fence }) => fence.split(':')[0])
      expect(fences[0]).toMatch(/^[0-9a-f]{32}$/)
      expect(fences[1]).toMatch(/^[0-9a-f]{32}$/)
      expect(fences[0]).not.toBe(fences[1])
    })

    it('A store works with the longest prefix', async () => {
      const prefix = `${'P'.repeat(15)}_0123456789abcd`
      const store = storeIn(database as TestDatabase, { prefix })
      await store.migrate()
      await store.ready()
      await store.accept(keyed('d1'))
      expect((await claimOne(store)).deliveryId).toBe('d1-a')
    })

    it('A store uses the given clock', async () => {
      const clock = { now: () => 1_000_000 }
      const store = storeIn(database as TestDatabase, { prefix: 'clock_', clock })
      await store.migrate()
      await store.accept(acceptance('d1'))
      const db = (database as TestDatabase).connect()
      const [row] = await run<{ at: unknown }>(db, 'select created_at as at from clock_dispatches')
      expect(Number(row?.at)).toBe(1_000_000)
    })
  })

describe('the options of a store', () => {
  const { db, asked } = fakeDatabase(() => [])
  const good = { db, dialect: 'sqlite' } as const

  it.each([
    [undefined, 'must be an object of options'],
    [null, 'must be an object of options'],
    [{}, 'field "db": is undefined; must be an instance of Kysely'],
    [{ ...good, db: {} }, 'field "db": is an object; must be an instance of Kysely'],
    [{ ...good, db: 'postgresql://jane:hunter2@db/x' }, 'field "db": is a string; must be an instance of Kysely'],
    [
      { ...good, dialect: 'postgres' },
      'field "dialect": is "postgres"; must be one of sqlite, postgresql, mysql, mariadb',
    ],
    [{ ...good, dialect: 'constructor' }, 'field "dialect"'],
    [{ ...good, dialect: ['sqlite'] }, 'field "dialect"'],
    [{ ...good, prefix: '' }, 'field "prefix": is an empty string; must be 1-30 letters, digits and underscores'],
    [{ ...good, prefix: 'a'.repeat(31) }, 'field "prefix"'],
    [{ ...good, prefix: 'a"; drop table x; --' }, 'field "prefix"'],
    [{ ...good, prefix: 'a ' }, 'field "prefix"'],
    [{ ...good, prefix: 'ä_' }, 'field "prefix"'],
    [{ ...good, prefix: 'SQLite_' }, 'field "prefix": must not begin with sqlite_'],
    [{ ...good, prefix: 7 }, 'field "prefix"'],
    [{ ...good, timeoutMs: 9 }, 'field "timeoutMs"'],
    [{ ...good, timeoutMs: 1.5 }, 'field "timeoutMs"'],
    [{ ...good, timeoutMs: Number.POSITIVE_INFINITY }, 'field "timeoutMs"'],
    [{ ...good, timeoutMs: '1500' }, 'field "timeoutMs"'],
    [{ ...good, clock: {} }, 'field "clock": has no now'],
    [{ ...good, notify: 'due' }, 'field "notify": is for postgresql alone'],
    [{ ...good, dialect: 'postgresql', notify: '1due' }, 'field "notify": must be letters'],
    [{ ...good, dialect: 'postgresql', notify: `due'; --` }, 'field "notify": must be letters'],
    [{ ...good, preparedStatements: true }, 'field "preparedStatements": is for postgresql alone'],
    [
      { ...good, dialect: 'postgresql', preparedStatements: 'yes' },
      'field "preparedStatements": is a string; must be true or false',
    ],
    [{ ...good, tableprefix: 'x_' }, 'field "tableprefix": is not an option'],
    [Object.assign(Object.create(null), good, { ['__proto__']: 1 }), 'field "__proto__": is not an option'],
  ])('sqlStore() refuses the options %j without quoting them', (options, message) => {
    const fault = faultOf(() => sqlStore(options as SqlStoreOptions))
    expect(fault).toContain(message)
    expect(fault).not.toContain('hunter2')
  })

  it('sqlStore() reports all wrong options at once', () => {
    const options = { db: 1, dialect: 'x', prefix: '-', timeoutMs: 0, notify: 1, clock: 1, other: 1 }
    const fault = faultOf(() => sqlStore(options as unknown as SqlStoreOptions))
    expect(fault.match(/field "\w+"/g)).toHaveLength(7)
  })

  it('sqlStore() refuses a transaction', async () => {
    await db.transaction().execute(async (own) => {
      expect(faultOf(() => sqlStore({ ...good, db: own }))).toContain(
        'is a transaction; pass the Kysely that began it, and use within() of the store',
      )
    })
  })

  it('sqlStore() works with the required options, and does not query the database', () => {
    sqlStore(good)
    sqlStore({ ...good, dialect: 'postgresql', notify: 'sallyport_due', prefix: 'x', timeoutMs: 10 })
    expect(asked).toEqual([])
  })

  it('sqlStatements() checks its options', () => {
    expect(faultOf(() => sqlStatements({ dialect: 'oracle' as 'mysql' }))).toContain('sqlStatements:')
    expect(faultOf(() => sqlStatements({ dialect: 'mysql', prefix: '`' }))).toContain('field "prefix"')
  })
})

function faultOf(call: () => unknown): string {
  try {
    call()
  } catch (cause) {
    if (!isSallyportError(cause)) throw cause
    expect(cause.code).toBe('option_invalid')
    return cause.message
  }
  throw new Error('nothing was wrong')
}
