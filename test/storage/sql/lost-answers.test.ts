import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import type { DispatchStore, Settlement } from '../../../src/ports/dispatch-store.ts'
import { type SqlStore, sqlStore } from '../../../src/storage/sql/index.ts'
import { UNHURRIED_MS } from '../../support/unhurried.ts'
import { openPostgresql, type TestDatabase } from '../databases.ts'
import { storeEach } from '../store-each.ts'
import { acceptance, claimOne, deliveriesOf, delivery, digested, lease } from '../storing.ts'
import { afterOnce, hostBetween } from './host-between.ts'
import { run } from './migrating-stores.ts'

describe('late or lost answers of a database', () => {
  const own = storeEach(openPostgresql)

  async function databaseNow(): Promise<number> {
    const [row] = await run<{ at: string }>(own.db, 'select floor(extract(epoch from clock_timestamp()) * 1000) as at')
    return Number(row?.at)
  }

  /** A store whose uncertainty is half a second: the database's answer took that long. */
  async function withVagueStore(work: (store: DispatchStore) => Promise<void>): Promise<void> {
    const running = performance.now.bind(performance)
    let late = 0
    const spy = vi.spyOn(performance, 'now').mockImplementation(() => running() + late)
    try {
      const asked = afterOnce(own.db, /^select .* as now$/, async () => {
        late = 500
      })
      await work(sqlStore({ db: asked, dialect: 'postgresql', prefix: own.prefix, timeoutMs: UNHURRIED_MS }))
    } finally {
      spy.mockRestore()
    }
  }

  it('A delayed delivery is never due early', () =>
    withVagueStore(async (store) => {
      const before = await databaseNow()
      const deliveries = [
        delivery('later', { delayMs: 1_500 }),
        digested('digest', { key: 'k' }, { channel: 'b' }),
        delivery('again', { channel: 'c' }),
      ]
      await store.accept(acceptance('d', { deliveries }))
      // By another store, since a claim returns the time.
      const other = sqlStore({ db: own.db, dialect: 'postgresql', prefix: own.prefix, timeoutMs: UNHURRIED_MS })
      const again = await claimOne(other, 'c')
      const settling = await databaseNow()
      await store.settle({ ...lease(again), to: 'queued', delayMs: 1_500 })
      const due = new Map((await deliveriesOf(store, 'd')).map(({ deliveryId, dueAt }) => [deliveryId, dueAt]))
      expect(due.get('later')).toBeGreaterThanOrEqual(before + 1_500)
      expect(due.get('digest')).toBeGreaterThanOrEqual(before + 1_000)
      expect(due.get('again')).toBeGreaterThanOrEqual(settling + 1_500)
    }))

  it('A delivery without a delay is due at once', () =>
    withVagueStore(async (store) => {
      await store.accept(acceptance('d'))
      await store.settle({ ...lease(await claimOne(store)), to: 'queued', delayMs: 0 })
      const claimed = await claimOne(store)
      await store.settle({ ...lease(claimed), to: 'failed', reason: 'provider_rejected' })
      await store.retry('default', 'd', { expiresInMs: 60_000 })
      expect(await claimOne(store)).toMatchObject({ deliveryId: 'd-a', attempts: 1 })
    }))

  it('A machine that has slept queries the database for its time again', async () => {
    let asked = 0
    const count = hostBetween(own.db, (query) => {
      if (query.sql.endsWith(' as now')) asked++
      return own.db.executeQuery(query)
    })
    const store = sqlStore({ db: count, dialect: 'postgresql', prefix: own.prefix, timeoutMs: UNHURRIED_MS })
    // A slow first answer is asked for again.
    await store.accept(acceptance('1'))
    const atFirst = asked
    await store.accept(acceptance('2'))
    expect(asked).toBe(atFirst)
    const wall = Date.now
    const spy = vi.spyOn(Date, 'now').mockImplementation(() => wall() + 3_600_000)
    try {
      await store.accept(acceptance('3'))
      const atSecond = asked
      expect(atSecond).toBeGreaterThan(atFirst)
      await store.accept(acceptance('4'))
      expect(asked).toBe(atSecond)
    } finally {
      spy.mockRestore()
    }
  })

  /** A store that loses the answer of one settlement. */
  function losingAnswer(): SqlStore {
    return own.over(
      afterOnce(own.db, /update_\d+"\('(?:states|jobs)'/, () => Promise.reject(new Error('the connection is gone'))),
    )
  }

  it('A repeated settlement whose first answer was lost is live', async () => {
    const store = losingAnswer()
    await store.accept(acceptance('d'))
    const settlement = { ...lease(await claimOne(store)), to: 'sent', attempt: { outcome: 'sent' } } as const
    await expect(store.settle(settlement)).rejects.toThrow('gone')
    own.clock.advance(100)
    expect(await store.settle(settlement)).toEqual({ live: true, others: [] })
    expect(await store.settle(settlement)).toEqual({ live: false })
  })

  it('A repeated settlement whose first answer was lost reports the effects of the first', async () => {
    const store = losingAnswer()
    const deliveries = [delivery('first'), delivery('second', { channel: 'b', status: 'held' })]
    await store.accept(acceptance('d', { route: 'first', deliveries }))
    const attempt = { outcome: 'rejected', code: 'no_such_box' } as const
    const failed = { to: 'failed', reason: 'provider_rejected', attempt } as const
    const settlement = { ...lease(await claimOne(store)), ...failed }
    await expect(store.settle(settlement)).rejects.toThrow('gone')
    expect(await store.settle(settlement)).toMatchObject({ live: true, others: [{ deliveryId: 'second' }] })
  })

  it('Another settlement of the same lease is refused after a lost answer', async () => {
    const store = losingAnswer()
    await store.accept(acceptance('d'))
    const leased = lease(await claimOne(store))
    await expect(store.settle({ ...leased, to: 'queued', delayMs: 1_000 })).rejects.toThrow('gone')
    expect(await store.settle({ ...leased, to: 'sent', attempt: { outcome: 'sent' } })).toEqual({ live: false })
  })

  const fallback = delivery('second', { channel: 'b', status: 'held' })
  describe.each([
    ['of a delivery alone', { deliveries: [delivery('first')] }],
    ['of a delivery with a fallback', { route: 'first', deliveries: [delivery('first'), fallback] }],
  ] as const)('after a lost answer to a settlement %s', (_, dispatch) => {
    it.each<[string, Partial<Settlement>]>([
      ['another status', { to: 'skipped' }],
      ['another outcome of its attempt', { attempt: { outcome: 'unknown', code: 'no_such_box' } }],
      ['another code of its attempt', { attempt: { outcome: 'rejected', code: 'full' } }],
      ['no code of its attempt', { attempt: { outcome: 'rejected' } }],
    ])('A settlement of the same lease with %s is refused', async (_, other) => {
      const store = losingAnswer()
      await store.accept(acceptance('d', dispatch))
      const attempt = { outcome: 'rejected', code: 'no_such_box' } as const
      const failed = { to: 'failed', reason: 'provider_rejected', attempt } as const
      const settlement = { ...lease(await claimOne(store)), ...failed }
      await expect(store.settle(settlement)).rejects.toThrow('gone')
      expect(await store.settle({ ...settlement, ...other } as Settlement)).toEqual({ live: false })
      expect((await deliveriesOf(store, 'd'))[0]).toMatchObject({ status: 'failed', attemptLog: [attempt] })
    })
  })

  it('A repeated settlement is refused if the delivery has changed since', async () => {
    const store = losingAnswer()
    await store.accept(acceptance('d'))
    const settlement = { ...lease(await claimOne(store)), to: 'queued', delayMs: 0 } as const
    await expect(store.settle(settlement)).rejects.toThrow('gone')
    await claimOne(own.other)
    expect(await store.settle(settlement)).toEqual({ live: false })
  })

  it('A settlement that was not written is refused after another claim', async () => {
    let isArmed = true
    const lossy = hostBetween(own.db, async (query) => {
      if (isArmed && /update_\d+"\('states'/.test(query.sql)) {
        isArmed = false
        throw new Error('the connection is gone')
      }
      return own.db.executeQuery(query)
    })
    const store = own.over(lossy)
    await store.accept(acceptance('d'))
    const settlement = { ...lease(await claimOne(store)), to: 'sent', attempt: { outcome: 'sent' } } as const
    await expect(store.settle(settlement)).rejects.toThrow('gone')
    own.clock.advance(30_001)
    await claimOne(own.other)
    expect(await store.settle(settlement)).toEqual({ live: false })
  })

  it('Calls that timed out while waiting do not query the database', async () => {
    let asked = 0
    const hanging = hostBetween(own.db, () => {
      asked++
      return new Promise(() => {})
    })
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
    try {
      const store = own.over(hanging, { timeoutMs: 20 })
      const calls = Promise.allSettled(Array.from({ length: 350 }, (_, at) => store.accept(acceptance(`${at}`))))
      await vi.advanceTimersByTimeAsync(20)
      for (const one of await calls) expect(one).toMatchObject({ reason: { cause: { code: 'database_timeout' } } })
      expect(asked).toBe(2)
    } finally {
      vi.useRealTimers()
    }
  })

  it('Leases of failed claims are searched once a second, not by every claim', async () => {
    const looks: string[] = []
    let isAway = true
    const away = hostBetween(own.db, async (query) => {
      if (isAway && /claim_\d+/.test(query.sql)) throw new Error('the connection is gone')
      if (query.parameters.some((text) => /"fence" (=|in)/.test(String(text)))) looks.push(query.sql)
      return own.db.executeQuery(query)
    })
    const store = own.over(away)
    const nothing = { leaseMs: 30_000, limits: { a: 1, b: 1 }, busy: [] }
    for (let claim = 0; claim < 5; claim++) await expect(store.claim(nothing)).rejects.toThrow('gone')
    isAway = false
    looks.length = 0
    for (let claim = 0; claim < 5; claim++) await store.claim(nothing)
    expect(looks).toHaveLength(1)
    own.clock.advance(1_000)
    await store.claim(nothing)
    expect(looks).toHaveLength(2)
    own.clock.advance(30_000)
    await store.claim(nothing)
    expect(looks).toHaveLength(3)
    own.clock.advance(1_000)
    await store.claim(nothing)
    expect(looks).toHaveLength(3)
  })
})

describe('calls that change nothing', () => {
  let database: TestDatabase
  beforeAll(async () => {
    database = await openPostgresql()
  })
  afterAll(() => database.close())

  it('A call that changes nothing writes nothing', async () => {
    const db = database.connect()
    const store = sqlStore({ db, dialect: 'postgresql', timeoutMs: UNHURRIED_MS })
    await store.migrate()
    await store.accept(acceptance('d'))
    const version = async () => (await run<{ version: string }>(db, 'select version from sallyport_states'))[0]
    const first = await version()
    expect((await store.retry('default', 'd', { expiresInMs: 1_000 }))?.changed).toEqual([])
    expect(await version()).toEqual(first)
    expect((await store.cancel('default', 'd'))?.changed).toMatchObject([{ status: 'cancelled' }])
    const second = await version()
    expect(second).not.toEqual(first)
    const again = await store.cancel('default', 'd')
    expect(again).toMatchObject({ changed: [], dispatch: { deliveries: [{ status: 'cancelled' }] } })
    expect(await version()).toEqual(second)
  })
})
