import type { Kysely, Transaction } from 'kysely'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSallyport } from '../../../src/compose/create-sallyport.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { throttle } from '../../../src/policies/throttle.ts'
import type { Logger } from '../../../src/ports/logger.ts'
import type { SqlStore } from '../../../src/storage/sql/index.ts'
import { type RecordingLogger, recordingLogger } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { databaseKinds, openPostgresql, type TestDatabase } from '../databases.ts'
import { keyed } from '../storing.ts'
import { type AnyKysely, run, storeIn } from './migrating-stores.ts'

const EVENT = { eventType: 'order.placed', recipient: 'jane@example.com', eventData: { order: 'o1' } } as const
const OPTIONS = { idempotencyKey: 'order-o1' }
/** The rows of one dispatch in each table. */
const ONE = { dispatches: 1, states: 1, contents: 1, jobs: 1, listed: 1, idempotency_keys: 1, counters: 1 }
const NONE = { dispatches: 0, states: 0, contents: 0, jobs: 0, listed: 0, idempotency_keys: 0, counters: 0 }

/** The rows of several dispatches. */
function ofMany(n: number): typeof ONE {
  return { ...ONE, dispatches: n, states: n, contents: n, jobs: n, listed: n }
}

type TestApp = ReturnType<typeof testAppOn>

interface Shop {
  readonly db: AnyKysely
  readonly store: SqlStore
  readonly sallyport: TestApp
  readonly lines: RecordingLogger['lines']
  readonly orderTable: string
  /** Stores an order, as the host does. */
  order(by: AnyKysely): Promise<void>
  orders(): Promise<number>
  /** The numbers of rows in the tables of the store. */
  rows(): Promise<typeof ONE>
}

function testAppOn(store: SqlStore, logger: Logger) {
  return createSallyport({
    auth: { verify: async () => ({ refused: 'invalid_token', detail: 'nobody may' }) },
    events: defineEvents({ 'order.placed': { channels: { email: {} } } }),
    store,
    channels: { email: recordingChannel() },
    policy: throttle({ max: 5, windowMs: 86_400_000 }),
    logger,
  })
}

let shops = 0

async function shopIn(database: TestDatabase, more: { readonly notify?: string } = {}): Promise<Shop> {
  const shop = `shop${++shops}_`
  const db = database.connect()
  const store = storeIn(database, { db, prefix: shop, ...more })
  await store.migrate()
  await run(db, `create table ${shop}orders (id integer primary key, note varchar(20))`)
  const logger = recordingLogger()
  const sallyport = testAppOn(store, logger)
  const count = async (table: string) =>
    Number((await run<{ n: unknown }>(db, `select count(*) as n from ${shop}${table}`))[0]?.n)
  return {
    db,
    store,
    sallyport,
    lines: logger.lines,
    orderTable: `${shop}orders`,
    order: async (by) => void (await run(by, `insert into ${shop}orders (id) values (1)`)),
    orders: () => count('orders'),
    async rows() {
      const counted = Object.keys(ONE).map(async (table) => [table, await count(table)] as const)
      return Object.fromEntries(await Promise.all(counted)) as typeof ONE
    },
  }
}

/** Thrown by the host to roll back its transaction. */
class ChangedMind extends Error {}

async function undone(db: AnyKysely, work: (transaction: Transaction<unknown>) => Promise<void>): Promise<void> {
  const transaction = db.transaction().execute(async (own) => {
    await work(own)
    throw new ChangedMind()
  })
  await expect(transaction).rejects.toThrow(ChangedMind)
}

for (const kind of await databaseKinds())
  describe.skipIf(kind.absent)(`within a transaction on ${kind.name}`, () => {
    let database: TestDatabase | undefined
    beforeAll(async () => {
      database = await kind.open()
    })
    afterAll(() => database?.close())
    const open = () => shopIn(database as TestDatabase)

    it('within() commits an order and its notification together', async () => {
      const { db, store, sallyport, order, orders, rows } = await open()
      const answer = await db.transaction().execute(async (transaction) => {
        await order(transaction)
        const answered = await sallyport.dispatch(EVENT, { ...OPTIONS, store: store.within(transaction) })
        return answered
      })
      expect(answer.status).toBe(202)
      expect([await orders(), await rows()]).toEqual([1, ONE])
      await sallyport.worker.runDue()
      const [found] = (await sallyport.dispatches.list()).items
      expect(found?.status).toBe('sent')
    })

    it('A refused dispatchOrThrow rolls the order back, and the log says why', async () => {
      const { db, store, sallyport, order, orders, rows, lines } = await open()
      const placing = db.transaction().execute(async (transaction) => {
        await order(transaction)
        await sallyport.dispatchOrThrow(
          { ...EVENT, recipient: 'nobody' },
          { ...OPTIONS, store: store.within(transaction) },
        )
      })
      await expect(placing).rejects.toMatchObject({ code: 'recipient_unresolvable', status: 422 })
      expect([await orders(), await rows()]).toEqual([0, NONE])
      const detail = expect.stringMatching(/^It is not one mail address/)
      const fields = {
        eventType: 'order.placed',
        code: 'recipient_unresolvable',
        detail,
        errors: expect.stringMatching(/^\/recipient: It is not one mail address/),
      }
      expect(lines).toEqual([{ level: 'warn', event: 'dispatch.refused', fields }])
    })

    it('A rollback removes the order and its notification, and the key may be used again', async () => {
      const { db, store, sallyport, order, orders, rows } = await open()
      await undone(db, async (transaction) => {
        await order(transaction)
        const answer = await sallyport.dispatch(EVENT, { ...OPTIONS, store: store.within(transaction) })
        expect(answer.status).toBe(202)
      })
      expect([await orders(), await rows()]).toEqual([0, NONE])
      const again = await sallyport.dispatch(EVENT, OPTIONS)
      expect(again).toMatchObject({ status: 202, body: { duplicate: false } })
      expect(await rows()).toEqual(ONE)
    })

    it('A repeated key gets the stored answer, and the transaction continues', async () => {
      const { db, store, sallyport, order, orders, rows } = await open()
      const first = await sallyport.dispatch(EVENT, OPTIONS)
      await db.transaction().execute(async (transaction) => {
        const own = store.within(transaction)
        const repeated = await sallyport.dispatch(EVENT, { ...OPTIONS, store: own })
        expect(repeated).toMatchObject({ ok: true, body: { duplicate: true } })
        expect(idOf(repeated)).toBe(idOf(first))
        const reused = await sallyport.dispatch({ ...EVENT, recipient: 'joe@example.com' }, { ...OPTIONS, store: own })
        expect(reused).toMatchObject({ ok: false, body: { code: 'idempotency_key_reused' } })
        await order(transaction)
      })
      expect([await orders(), await rows()]).toEqual([1, ONE])
    })

    it('A transaction sees its own dispatches and keys', async () => {
      const { db, store, sallyport, rows } = await open()
      await db.transaction().execute(async (transaction) => {
        const own = store.within(transaction)
        const first = await sallyport.dispatch(EVENT, { ...OPTIONS, store: own })
        const repeated = await sallyport.dispatch(EVENT, { ...OPTIONS, store: own })
        expect(idOf(repeated)).toBe(idOf(first))
        expect(await own.findDispatch('default', idOf(first))).toBeDefined()
      })
      expect(await rows()).toEqual(ONE)
    })

    it('A transaction accepts several events, and a refused one changes nothing', async () => {
      const { db, store, sallyport, order, orders, rows } = await open()
      await db.transaction().execute(async (transaction) => {
        const own = store.within(transaction)
        const refused = await sallyport.dispatch({ ...EVENT, recipient: '' }, { store: own })
        expect(refused.status).toBe(422)
        for (let at = 0; at < 3; at++) expect((await sallyport.dispatch(EVENT, { store: own })).status).toBe(202)
        await order(transaction)
      })
      expect([await orders(), await rows()]).toEqual([1, { ...ofMany(3), idempotency_keys: 0 }])
    })

    it('A rollback to a savepoint of the host undoes an acceptance', async () => {
      const { db, store, sallyport, order, orders, rows } = await open()
      const transaction = await db.startTransaction().execute()
      await order(transaction)
      const saved = await transaction.savepoint('host').execute()
      await sallyport.dispatch(EVENT, { ...OPTIONS, store: store.within(saved) })
      await saved.rollbackToSavepoint('host').execute()
      await transaction.commit().execute()
      expect([await orders(), await rows()]).toEqual([1, NONE])
    })

    it('within() takes only a transaction', async () => {
      const { db, store } = await open()
      for (const other of [db, undefined, {}]) {
        const refused = expect.objectContaining({ code: 'option_invalid' })
        expect(() => store.within(other as unknown as Transaction<unknown>)).toThrow(refused)
      }
    })

    // SQLite has one writing transaction at a time: the second waits, or fails as busy.
    it.skipIf(kind.name === 'sqlite')(
      'The second of two transactions with one key waits for the first, and replays its answer',
      async () => {
        const { db, store, order, orders, rows } = await open()
        const first = await db.startTransaction().execute()
        const second = await db.startTransaction().execute()
        expect((await store.within(first).accept(keyed('d1'))).outcome).toBe('accepted')
        const waiting = store.within(second).accept(keyed('d2'))
        await first.commit().execute()
        expect((await waiting).outcome).toBe('replayed')
        await order(second)
        await second.commit().execute()
        expect([await orders(), await rows()]).toEqual([1, { ...ONE, counters: 0 }])
      },
    )

    it.skipIf(kind.name === 'sqlite')(
      'The second of two transactions uses the key after the first is rolled back',
      async () => {
        const { db, store, rows } = await open()
        const first = await db.startTransaction().execute()
        const second = await db.startTransaction().execute()
        await store.within(first).accept(keyed('d1'))
        const waiting = store.within(second).accept(keyed('d2'))
        await first.rollback().execute()
        expect((await waiting).outcome).toBe('accepted')
        await second.commit().execute()
        expect(await rows()).toEqual({ ...ONE, counters: 0 })
        expect(await store.findDispatch('default', 'd2')).toBeDefined()
      },
    )

    it.skipIf(kind.name !== 'mariadb')(
      'After the database rolls a transaction back, nothing is accepted outside it',
      async () => {
        const { db, store, orderTable, order, orders, rows } = await open()
        const loser = await db.startTransaction().execute()
        const winner = await db.startTransaction().execute()
        await order(loser)
        // In a deadlock, the database rolls back the transaction that wrote less.
        const many = Array.from({ length: 500 }, (_, at) => `(${at + 100})`).join(', ')
        await run(winner, `insert into ${orderTable} (id) values ${many}`)
        await store.within(winner).accept(keyed('d1'))
        const lost = store.within(loser).accept(keyed('d2'))
        const failed = expect(lost).rejects.toThrow()
        await run(winner, `update ${orderTable} set note = 'mine' where id = 1`)
        await winner.rollback().execute()
        await failed
        await loser.rollback().execute()
        expect([await orders(), await rows()]).toEqual([0, NONE])
      },
    )

    it.skipIf(kind.name === 'sqlite')(
      'A key that was committed after the snapshot of the transaction is replayed',
      async () => {
        const { db, store, order, orderTable, orders, rows } = await open()
        await db.transaction().execute(async (transaction) => {
          await run(transaction, `select * from ${orderTable}`)
          await store.accept(keyed('d1'))
          expect((await store.within(transaction).accept(keyed('d2'))).outcome).toBe('replayed')
          await order(transaction)
        })
        expect([await orders(), await rows()]).toEqual([1, { ...ONE, counters: 0 }])
      },
    )

    it.skipIf(kind.name === 'sqlite')(
      'Limits include counts that others committed after the snapshot of the transaction',
      async () => {
        const { db, store, sallyport, orderTable, rows } = await open()
        await sallyport.dispatch(EVENT)
        const statuses = await db.transaction().execute(async (transaction) => {
          await run(transaction, `select * from ${orderTable}`)
          for (let at = 0; at < 3; at++) await sallyport.dispatch(EVENT)
          const own = store.within(transaction)
          const answers = [
            await sallyport.dispatch(EVENT, { store: own }),
            await sallyport.dispatch(EVENT, { store: own }),
          ]
          return answers.map((answer) => answer.ok && answer.body.deliveries[0]?.status)
        })
        expect(statuses).toEqual(['queued', 'skipped'])
        expect(await rows()).toEqual({ ...ofMany(6), jobs: 5, idempotency_keys: 0 })
      },
    )
  })

describe('the workers of a PostgreSQL', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await openPostgresql()
  })
  afterAll(() => database.close())

  it('Workers are notified at the commit of a transaction, and never after a rollback', async () => {
    const { db, store, sallyport } = await shopIn(database, { notify: 'Due_1' })
    const touched: string[] = []
    const client = await clientOf(db)
    client.on('notification', ({ channel, payload }) => touched.push(`${channel}:${payload}`))
    await client.query('listen "Due_1"')
    const reported = async () => {
      // Earlier notifications arrive before this answer.
      await client.query('select 1')
      return touched.splice(0)
    }
    const dispatch = (transaction: Transaction<unknown>) =>
      sallyport.dispatch(EVENT, { ...OPTIONS, store: store.within(transaction) })

    await undone(db, async (transaction) => void (await dispatch(transaction)))
    expect(await reported()).toEqual([])

    await db.transaction().execute(async (transaction) => {
      await dispatch(transaction)
      expect(await reported()).toEqual([])
    })
    expect(await reported()).toEqual(['Due_1:'])

    const accept = () => db.transaction().execute((own) => store.within(own).accept(keyed('d1')))
    expect((await accept()).outcome).toBe('accepted')
    expect(await reported()).toEqual(['Due_1:'])
    expect((await accept()).outcome).toBe('replayed')
    expect(await reported()).toEqual([])
    await client.end()
  })

  it('Workers are not notified without a channel', async () => {
    const { db, store, sallyport } = await shopIn(database)
    const client = await clientOf(db)
    const touched: unknown[] = []
    client.on('notification', (message) => touched.push(message))
    await client.query('listen sallyport_due')
    await db.transaction().execute((own) => sallyport.dispatch(EVENT, { store: store.within(own) }))
    await client.query('select 1')
    expect(touched).toEqual([])
    await client.end()
  })
})

async function clientOf(db: Kysely<unknown>): Promise<pg.Client> {
  const place = `select current_setting('port')::int as port, current_database() as database`
  const [at] = await run<{ port: number; database: string }>(db, place)
  const client = new pg.Client({ host: '127.0.0.1', user: 'postgres', password: 'postgres', ...at })
  client.on('error', () => {})
  await client.connect()
  return client
}

function idOf(answer: { readonly body: object }): string {
  return String(Reflect.get(answer.body, 'dispatchId'))
}
