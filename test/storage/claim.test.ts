import { describe, expect, it } from 'vitest'
import { acceptance, claim, claimOne, deliveriesOf, delivery, HOUR, ids, storeOn } from './storing.ts'

const NOTHING = { deliveries: [], expired: [] }

describe('claim', () => {
  it('claim returns the oldest due delivery first over all named channels', async () => {
    const { clock, store } = storeOn()
    for (const [id, channel] of Object.entries({ 1: 'b', 2: 'a', 3: 'c', 4: 'b' })) {
      await store.accept(acceptance(id, { deliveries: [delivery(id, { channel, concurrencyKey: id })] }))
      clock.advance(1)
    }
    expect(ids((await claim(store, { a: 9, b: 9, c: 9 })).deliveries)).toEqual(['1', '2', '3', '4'])
  })

  it('A channel with the limit 0 counts for nextDueInMs to the millisecond', async () => {
    const { clock, store } = storeOn()
    await store.accept(acceptance('1', { deliveries: [delivery('x', { delayMs: 7 })] }))
    expect(await claim(store, { a: 0 })).toEqual({ ...NOTHING, nextDueInMs: 7 })
    clock.advance(7)
    await store.accept(acceptance('2', { deliveries: [delivery('y', { channel: 'b' })] }))
    expect(await claim(store, { a: 0, b: 9 })).toMatchObject({ deliveries: [{ deliveryId: 'y' }], nextDueInMs: 0 })
    expect(await claim(store, { a: 0, b: 9 })).toEqual({ ...NOTHING, nextDueInMs: 0 })
    expect(await claim(store, { b: 9 })).toEqual({ ...NOTHING, nextDueInMs: 30_000 })
  })

  it('nextDueInMs is absent when nothing is queued or leased', async () => {
    const { store } = storeOn()
    await store.accept(acceptance('1', { deliveries: [delivery('x')] }))
    const { deliveryId, fence } = await claimOne(store)
    await store.settle({ deliveryId, fence, to: 'sent', attempt: { outcome: 'sent' } })
    expect(await claim(store)).toEqual(NOTHING)
  })

  it('nextDueInMs counts only the channels that a claim names', async () => {
    const { store } = storeOn()
    await store.accept(acceptance('1', { deliveries: [delivery('x'), delivery('y', { channel: 'b' })] }))
    expect(ids((await claim(store, { b: 10 })).deliveries)).toEqual(['y'])
    expect(await claim(store, { b: 10 })).toEqual({ ...NOTHING, nextDueInMs: 30_000 })
    expect(await claim(store, {})).toEqual(NOTHING)
    expect(await claim(store, { never: 10 })).toEqual(NOTHING)
  })

  it('claim skips busy receivers, and nextDueInMs ignores their deliveries', async () => {
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

  it('nextDueInMs is 0, the end of the first lease, or absent', async () => {
    const { clock, store } = storeOn()
    expect(await claim(store)).toEqual(NOTHING)
    await store.accept(acceptance('1'))
    await store.accept(acceptance('2'))
    expect(await claim(store, { a: 1 })).toMatchObject({ deliveries: [{}], nextDueInMs: 0 })
    clock.advance(10)
    expect(await claim(store, { a: 1 })).toMatchObject({ deliveries: [{}], nextDueInMs: 29_990 })
  })

  it('Concurrent claims return each delivery once', async () => {
    const { store } = storeOn()
    for (let at = 0; at < 200; at++) await store.accept(acceptance(`${at}`))
    const claims = await Promise.all(Array.from({ length: 50 }, () => claim(store, { a: 7 })))
    const claimed = claims.flatMap(({ deliveries }) => ids(deliveries))
    expect([claimed.length, new Set(claimed).size]).toEqual([200, 200])
    expect(new Set(claims.flatMap(({ deliveries }) => deliveries.map(({ fence }) => fence))).size).toBe(200)
  })
})

describe('expiry', () => {
  const route = 'first'
  const pair = (rest = {}) => [delivery('x', rest), delivery('y', { channel: 'b', status: 'held' })]

  it('A delivery and the held one behind it expire at exactly the expiry', async () => {
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

  it('A delivery of an unnamed channel expires behind one that expires later', async () => {
    const { clock, store } = storeOn()
    for (const [id, expiresInMs] of Object.entries({ 1: 100, 2: 10 })) {
      await store.accept(acceptance(id, {}, { expiresInMs }))
      clock.advance(1)
    }
    clock.advance(98)
    expect(ids((await claim(store, {})).expired)).toEqual(['1-a', '2-a'])
  })

  it('Expired deliveries hide no due deliveries before or after them', async () => {
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

  it('Claims look through all deliveries for expired ones, a thousand a second', async () => {
    const { clock, store } = storeOn()
    for (let at = 0; at < 1_500; at++) {
      await store.accept(
        acceptance(`${at}`, { deliveries: [delivery(`${at}`, { channel: 'gone' })] }, { expiresInMs: 10 }),
      )
    }
    clock.advance(10)
    const expired = async () => (await claim(store)).expired.length
    expect([await expired(), await expired()]).toEqual([1_000, 0])
    clock.advance(1_000)
    expect([await expired(), await expired()]).toEqual([500, 0])
  })

  it('A claim ends all expired deliveries that precede the due ones of its channel', async () => {
    const { clock, store } = storeOn()
    for (let at = 0; at < 150; at++) await store.accept(acceptance(`${at}`, {}, { expiresInMs: 10 }))
    clock.advance(10)
    await store.accept(acceptance('due'))
    const { deliveries, expired } = await claim(store)
    expect([ids(deliveries), expired.length]).toEqual([['due-a'], 150])
  })
})
