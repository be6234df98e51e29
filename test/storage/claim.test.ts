import { describe, expect, it } from 'vitest'
import { acceptance, claim, claimOne, deliveriesOf, delivery, HOUR, ids, lease, storeOn } from './storing.ts'

const NOTHING = { deliveries: [], expired: [] }

describe('claiming', () => {
  it('hands out the oldest due first, over all the channels asked for', async () => {
    const { clock, store } = storeOn()
    for (const [id, channel] of Object.entries({ 1: 'b', 2: 'a', 3: 'c', 4: 'b' })) {
      await store.accept(acceptance(id, { deliveries: [delivery(id, { channel, concurrencyKey: id })] }))
      clock.advance(1)
    }
    expect(ids((await claim(store, { a: 9, b: 9, c: 9 })).deliveries)).toEqual(['1', '2', '3', '4'])
  })

  it('takes no more of a channel than was asked for', async () => {
    const { clock, store } = storeOn()
    for (const id of ['1', '2', '3']) {
      const deliveries = [delivery(`${id}-a`), delivery(`${id}-b`, { channel: 'b' })]
      await store.accept(acceptance(id, { deliveries }))
      clock.advance(1)
    }
    const { deliveries, nextDueInMs } = await claim(store, { a: 1, b: 2 })
    expect(ids(deliveries).sort()).toEqual(['1-a', '1-b', '2-b'])
    expect(nextDueInMs).toBe(0)
    expect(ids((await claim(store, { a: 0, b: 9 })).deliveries)).toEqual(['3-b'])
  })

  it('hands out nothing of a channel with the limit 0, but says when its next is due', async () => {
    const { clock, store } = storeOn()
    await store.accept(acceptance('1', { deliveries: [delivery('x', { delayMs: 7 })] }))
    expect(await claim(store, { a: 0 })).toEqual({ ...NOTHING, nextDueInMs: 7 })
    clock.advance(7)
    await store.accept(acceptance('2', { deliveries: [delivery('y', { channel: 'b' })] }))
    expect(await claim(store, { a: 0, b: 9 })).toMatchObject({ deliveries: [{ deliveryId: 'y' }], nextDueInMs: 0 })
    expect(await claim(store, { a: 0, b: 9 })).toEqual({ ...NOTHING, nextDueInMs: 0 })
    expect(await claim(store, { b: 9 })).toEqual({ ...NOTHING, nextDueInMs: 30_000 })
  })

  it('takes a lease that has ended in the order of its end, among what is queued', async () => {
    const { clock, store } = storeOn()
    await store.accept(acceptance('1'))
    await claimOne(store, 'a', 100)
    clock.advance(50)
    await store.accept(acceptance('2'))
    clock.advance(100)
    await store.accept(acceptance('3'))
    expect(ids((await claim(store)).deliveries)).toEqual(['2-a', '1-a', '3-a'])
  })

  it('leaves the other channels alone', async () => {
    const { store } = storeOn()
    await store.accept(acceptance('1', { deliveries: [delivery('x'), delivery('y', { channel: 'b' })] }))
    expect(ids((await claim(store, { b: 10 })).deliveries)).toEqual(['y'])
    expect(await claim(store, { b: 10 })).toEqual({ ...NOTHING, nextDueInMs: 30_000 })
    expect(await claim(store, {})).toEqual(NOTHING)
    expect(await claim(store, { never: 10 })).toEqual(NOTHING)
  })

  it('leaves out busy receivers, and does not wait for them', async () => {
    const { clock, store } = storeOn()
    for (const [id, rest] of Object.entries({
      1: { concurrencyKey: 'dead' },
      2: { concurrencyKey: 'alive', delayMs: 7 },
      3: { concurrencyKey: 'dead', channel: 'b' },
      4: {},
    })) {
      await store.accept(acceptance(id, { deliveries: [delivery(id, rest)] }))
      clock.advance(1)
    }
    const limits = { a: 9, b: 9 }
    const busy = [{ channel: 'a', concurrencyKey: 'dead' }]
    const claims = await store.claim({ limits, leaseMs: 100, busy })
    expect(ids(claims.deliveries)).toEqual(['3', '4'])
    expect(claims.deliveries[0]).toMatchObject({ concurrencyKey: 'dead' })
    expect(claims.nextDueInMs).toBe(4)
    expect(ids((await claim(store)).deliveries)).toEqual(['1'])
  })

  it('says when the next is due: now, later, or not at all', async () => {
    const { clock, store } = storeOn()
    expect(await claim(store)).toEqual(NOTHING)
    await store.accept(acceptance('1'))
    await store.accept(acceptance('2'))
    expect(await claim(store, { a: 1 })).toMatchObject({ deliveries: [{}], nextDueInMs: 0 })
    clock.advance(10)
    expect(await claim(store, { a: 1 })).toMatchObject({ deliveries: [{}], nextDueInMs: 29_990 })
  })

  it('gives everything that an attempt needs, and nothing else', async () => {
    const { clock, store } = storeOn()
    await store.accept(acceptance('1', { sessionId: 's1', locale: 'de', critical: true }))
    clock.advance(7)
    expect(await claimOne(store)).toEqual({
      deliveryId: '1-a',
      channel: 'a',
      address: 'jane@example.com',
      content: { text: 'x' },
      attempts: 1,
      history: [],
      waitedMs: 7,
      expiresInMs: 72 * HOUR - 7,
      fence: expect.any(String),
      dispatch: {
        dispatchId: '1',
        tenant: 'default',
        eventType: 'e',
        recipient: 'jane@example.com',
        route: 'all',
        createdAt: clock.now() - 7,
        sessionId: 's1',
        locale: 'de',
        critical: true,
      },
    })
  })

  it('makes a delivery sending, and counts the attempt and writes it down', async () => {
    const { clock, store } = storeOn()
    await store.accept(acceptance('1'))
    await claimOne(store, 'a', 100)
    const startedAt = clock.now()
    const [stored] = await deliveriesOf(store, '1')
    expect(stored).toMatchObject({ status: 'sending', attempts: 1, attemptLog: [{ attempt: 1, startedAt }] })
    expect(stored).not.toHaveProperty('dueAt')
    clock.advance(100)
    expect(await claimOne(store)).toMatchObject({ attempts: 2, history: [{ attempt: 1, startedAt }] })
  })

  it('hands each delivery to one of any number of concurrent callers', async () => {
    const { store } = storeOn()
    for (let at = 0; at < 200; at++) await store.accept(acceptance(`${at}`))
    const claims = await Promise.all(Array.from({ length: 50 }, () => claim(store, { a: 7 })))
    const claimed = claims.flatMap(({ deliveries }) => ids(deliveries))
    expect([claimed.length, new Set(claimed).size]).toEqual([200, 200])
    expect(new Set(claims.flatMap(({ deliveries }) => deliveries.map(({ fence }) => fence))).size).toBe(200)
  })

  it('hands out nothing that is held, skipped or failed', async () => {
    const { store } = storeOn()
    const deliveries = (['held', 'skipped', 'failed'] as const).map((status) => delivery(status, { status }))
    await store.accept(acceptance('1', { deliveries }))
    expect(await claim(store)).toEqual(NOTHING)
  })
})

describe('what is past its expiry', () => {
  const route = 'first'
  const pair = (rest = {}) => [delivery('x', rest), delivery('y', { channel: 'b', status: 'held' })]

  it('becomes expired with what is held behind it, and is reported', async () => {
    const { clock, store } = storeOn()
    await store.accept(acceptance('1', { route, deliveries: pair() }, { expiresInMs: 1_000 }))
    clock.advance(999)
    expect(await claimOne(store, 'a', 1)).toMatchObject({ expiresInMs: 1 })
    clock.advance(1)
    const { deliveries: _, ...head } = acceptance('1', { route }).dispatch
    const dispatch = { ...head, createdAt: clock.now() - 1_000 }
    expect(await claim(store)).toEqual({
      deliveries: [],
      expired: [
        { deliveryId: 'x', channel: 'a', status: 'expired', attempts: 1, dispatch },
        { deliveryId: 'y', channel: 'b', status: 'expired', attempts: 0, dispatch },
      ],
    })
    expect(await deliveriesOf(store, '1')).toMatchObject([{ status: 'expired' }, { status: 'expired' }])
    expect(await claim(store, { a: 9, b: 9 })).toEqual(NOTHING)
  })

  it('counts for nothing in what was asked for', async () => {
    const { clock, store } = storeOn()
    await store.accept(acceptance('1', {}, { expiresInMs: 10 }))
    clock.advance(10)
    await store.accept(acceptance('2'))
    expect(await claim(store, { a: 1 })).toMatchObject({ deliveries: [{ deliveryId: '2-a' }], expired: [{}] })
  })

  it('becomes expired whatever channels are named, and whoever is busy', async () => {
    const { clock, store } = storeOn()
    for (const [id, channel] of Object.entries({ 1: 'gone', 2: 'gone', 3: 'b' })) {
      const deliveries = [delivery(id, { channel, concurrencyKey: id }), delivery(`${id}-h`, { status: 'held' })]
      await store.accept(acceptance(id, { route, deliveries }, { expiresInMs: 10 }))
    }
    const busy = [{ channel: 'b', concurrencyKey: '3' }]
    clock.advance(9)
    expect((await store.claim({ limits: {}, leaseMs: 1, busy })).expired).toEqual([])
    clock.advance(1)
    const { deliveries, expired } = await store.claim({ limits: { a: 9, b: 9 }, leaseMs: 1, busy })
    expect(deliveries).toEqual([])
    expect(ids(expired).sort()).toEqual(['1', '1-h', '2', '2-h', '3', '3-h'])
    for (const id of ['1', '2', '3']) expect((await deliveriesOf(store, id))[0]).toMatchObject({ status: 'expired' })
  })

  it('is found in a channel that nobody names, behind what expires later, once that has', async () => {
    const { clock, store } = storeOn()
    for (const [id, expiresInMs] of Object.entries({ 1: 100, 2: 10 })) {
      await store.accept(acceptance(id, {}, { expiresInMs }))
      clock.advance(1)
    }
    clock.advance(98)
    expect(ids((await claim(store, {})).expired)).toEqual(['1-a', '2-a'])
  })

  it('stays with a worker that has it, until its lease has ended', async () => {
    const { clock, store } = storeOn()
    await store.accept(acceptance('1', {}, { expiresInMs: 10 }))
    const claimed = await claimOne(store, 'a', 20)
    clock.advance(19)
    expect(await claim(store, {})).toEqual(NOTHING)
    expect(await store.renew(lease(claimed), 10)).toBe(true)
    clock.advance(10)
    expect((await claim(store, {})).expired).toMatchObject([{ attempts: 1 }])
  })

  it('keeps nothing back that is due before and after it', async () => {
    const { clock, store } = storeOn()
    for (const [id, expiresInMs] of Object.entries({ 1: HOUR, 2: 10, 3: HOUR, 4: 10, 5: HOUR })) {
      await store.accept(acceptance(id, {}, { expiresInMs }))
      clock.advance(1)
    }
    clock.advance(100)
    const { deliveries, expired } = await claim(store)
    expect([ids(deliveries), ids(expired)]).toEqual([
      ['1-a', '3-a', '5-a'],
      ['2-a', '4-a'],
    ])
  })

  it('is counted from when each is first due; what is held, as long as what is queued', async () => {
    const { clock, store } = storeOn()
    await store.accept(acceptance('1', { route, deliveries: pair({ delayMs: 5_000 }) }, { expiresInMs: 1_000 }))
    clock.advance(5_999)
    const claimed = await claimOne(store)
    expect(claimed).toMatchObject({ expiresInMs: 1 })
    await store.settle({ ...lease(claimed), to: 'failed', reason: 'channel_error' })
    expect(await claimOne(store, 'b')).toMatchObject({ deliveryId: 'y', expiresInMs: 1 })
  })

  it('refuses the worker that comes back', async () => {
    const { clock, store } = storeOn()
    await store.accept(acceptance('1', {}, { expiresInMs: 10 }))
    const claimed = await claimOne(store, 'a', 10)
    clock.advance(10)
    await claim(store)
    expect(await store.settle({ ...lease(claimed), to: 'sent' })).toEqual({ live: false })
    expect(await store.renew(lease(claimed), 10)).toBe(false)
  })

  it.each(['a', 'gone'])('is cleared away by the thousand, of channel %s', async (channel) => {
    const { clock, store } = storeOn()
    for (let at = 0; at < 1_500; at++) {
      await store.accept(acceptance(`${at}`, { deliveries: [delivery(`${at}`, { channel })] }, { expiresInMs: 10 }))
    }
    clock.advance(10)
    const first = await claim(store)
    expect([first.expired.length, first.nextDueInMs]).toEqual([1_000, 0])
    const { expired, nextDueInMs } = await claim(store)
    expect([expired.length, nextDueInMs]).toEqual([500, undefined])
  })
})
