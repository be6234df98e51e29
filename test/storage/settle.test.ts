import { describe, expect, it } from 'vitest'
import type { NewDelivery } from '../../src/ports/dispatch-store.ts'
import { acceptance, claim, claimOne, deliveriesOf, delivery, HOUR, lease, storeOn } from './storing.ts'

const ALONE = { live: true, others: [] }
const retry = { outcome: 'retry', code: 'busy' } as const

async function leased(deliveries: readonly NewDelivery[] = [delivery('x')]) {
  const { clock, store } = storeOn()
  await store.accept(acceptance('1', { route: 'first', deliveries }))
  const claimed = await claimOne(store, 'a', 1_000)
  return { clock, store, claimed, mine: lease(claimed), startedAt: clock.now() }
}

describe('settling', () => {
  it('is accepted once', async () => {
    const { store, mine } = await leased()
    expect(await store.settle({ ...mine, to: 'sent', attempt: { outcome: 'sent' } })).toEqual(ALONE)
    expect(await store.settle({ ...mine, to: 'sent' })).toEqual({ live: false })
    expect(await store.settle({ ...mine, to: 'queued', delayMs: 1 })).toEqual({ live: false })
    expect(await deliveriesOf(store, '1')).toMatchObject([{ status: 'sent', attempts: 1 }])
  })

  it('is refused, and changes nothing, for a delivery or fence that is not there', async () => {
    const { store, mine } = await leased()
    const before = await store.findDispatch('default', '1')
    for (const wrong of [{ deliveryId: 'nothing' }, { fence: 'nothing' }, { fence: '' }]) {
      expect(await store.settle({ ...mine, ...wrong, to: 'sent' })).toEqual({ live: false })
      expect(await store.renew({ ...mine, ...wrong }, 1)).toBe(false)
    }
    expect(await store.findDispatch('default', '1')).toEqual(before)
  })

  it('is accepted after the end of the lease, as long as nobody else has it', async () => {
    const { clock, store, mine } = await leased()
    clock.advance(5_000)
    expect(await store.settle({ ...mine, to: 'sent', attempt: { outcome: 'sent' } })).toEqual(ALONE)
  })

  it('is refused to a zombie, whatever it wants, and changes nothing', async () => {
    const { clock, store, mine } = await leased()
    clock.advance(1_000)
    await claim(store)
    const before = await store.findDispatch('default', '1')
    expect(await store.settle({ ...mine, to: 'sent' })).toEqual({ live: false })
    expect(await store.settle({ ...mine, to: 'queued', delayMs: 0 })).toEqual({ live: false })
    expect(await store.settle({ ...mine, to: 'failed', reason: 'channel_error' })).toEqual({ live: false })
    expect(await store.renew(mine, 1_000)).toBe(false)
    expect(await store.findDispatch('default', '1')).toEqual(before)
  })

  it('lets the fence of an attempt before prove nothing once it is queued again', async () => {
    const { clock, store, mine } = await leased()
    await store.settle({ ...mine, to: 'queued', delayMs: 500, attempt: retry })
    expect(await store.settle({ ...mine, to: 'sent' })).toEqual({ live: false })
    clock.advance(500)
    await claim(store)
    expect(await store.settle({ ...mine, to: 'sent' })).toEqual({ live: false })
  })

  it('queues again by its own clock', async () => {
    const { clock, store, mine } = await leased()
    clock.advance(100)
    await store.settle({ ...mine, to: 'queued', delayMs: 500, attempt: retry })
    const dueAt = clock.now() + 500
    expect(await deliveriesOf(store, '1')).toMatchObject([{ status: 'queued', dueAt, lastCode: 'busy', attempts: 1 }])
    expect(await claim(store)).toEqual({ deliveries: [], expired: [], nextDueInMs: 500 })
    clock.advance(499)
    expect((await claim(store)).deliveries).toEqual([])
    clock.advance(1)
    expect((await claim(store)).deliveries).toMatchObject([{ deliveryId: 'x', attempts: 2 }])
  })

  it('writes down how the attempt ended, and gives it to the next', async () => {
    const { clock, store, mine, startedAt } = await leased()
    clock.advance(100)
    const attempt = { outcome: 'unknown', code: 'timeout', provider: 'p1' } as const
    await store.settle({ ...mine, to: 'queued', delayMs: 0, attempt })
    const first = { attempt: 1, startedAt, endedAt: clock.now(), ...attempt }
    const again = await claimOne(store)
    expect(again.history).toEqual([first])
    const end = { outcome: 'sent', providerMessageId: 'm1' } as const
    await store.settle({ ...lease(again), to: 'sent', attempt: end })
    const second = { attempt: 2, startedAt: clock.now(), endedAt: clock.now(), ...end }
    expect(await deliveriesOf(store, '1')).toMatchObject([
      { status: 'sent', attempts: 2, attemptLog: [first, second], lastCode: 'timeout', providerMessageId: 'm1' },
    ])
  })

  it('takes an attempt back that was none', async () => {
    const { store, mine } = await leased()
    await store.settle({ ...mine, to: 'queued', delayMs: 0, attempt: retry })
    const before = await deliveriesOf(store, '1')
    for (let time = 0; time < 60; time++) {
      expect(await store.settle({ ...lease(await claimOne(store)), to: 'queued', delayMs: 0 })).toEqual(ALONE)
    }
    expect(await deliveriesOf(store, '1')).toEqual(before)
    expect(await claimOne(store)).toMatchObject({ attempts: 2, history: [{ attempt: 1, code: 'busy' }] })
  })

  it('keeps the newest fifty attempts, also beside one that is taken back', async () => {
    const { clock, store, mine } = await leased()
    await store.settle({ ...mine, to: 'queued', delayMs: 0, attempt: retry })
    for (let attempt = 2; attempt <= 60; attempt++) {
      const claimed = await claimOne(store, 'a', 10)
      if (attempt % 2 === 0) await store.settle({ ...lease(claimed), to: 'queued', delayMs: 0, attempt: retry })
      else clock.advance(10)
    }
    const numbers = async () => (await deliveriesOf(store, '1')).map((one) => one.attemptLog.map((a) => a.attempt))
    const newest = Array.from({ length: 50 }, (_, at) => at + 11)
    expect(await numbers()).toEqual([newest])
    const last = await claimOne(store)
    expect(last.history.map(({ attempt }) => attempt)).toEqual(newest)
    await store.settle({ ...lease(last), to: 'queued', delayMs: 0 })
    expect(await numbers()).toEqual([newest])
  })

  it('gives a reason to what failed or is skipped', async () => {
    for (const [to, reason] of [['failed', 'provider_rejected'] as const, ['skipped', 'opted_out'] as const]) {
      const { store, mine } = await leased()
      expect(await store.settle({ ...mine, to, reason })).toEqual(ALONE)
      expect(await deliveriesOf(store, '1')).toMatchObject([{ status: to, reason, attempts: 0, attemptLog: [] }])
      expect((await claim(store)).nextDueInMs).toBeUndefined()
    }
  })
})

describe('what is held', () => {
  const fallback = (deliveryId: string, rest: Partial<NewDelivery> = {}) =>
    delivery(deliveryId, { channel: 'b', status: 'held', deferred: true, ...rest })
  const change = { channel: 'b', attempts: 0 }

  it('is skipped, all of it, once one is sent', async () => {
    const { store, mine } = await leased([delivery('x'), fallback('y'), fallback('z')])
    const skipped = { ...change, status: 'skipped', reason: 'fallback_unneeded' }
    expect(await store.settle({ ...mine, to: 'sent', attempt: { outcome: 'sent' } })).toEqual({
      live: true,
      others: [
        { ...skipped, deliveryId: 'y' },
        { ...skipped, deliveryId: 'z' },
      ],
    })
    expect(await deliveriesOf(store, '1')).toMatchObject([{ status: 'sent' }, skipped, skipped])
  })

  it.each(['failed', 'skipped'] as const)('has its turn, one at a time, once the one before it is %s', async (to) => {
    const { clock, store, mine } = await leased([delivery('x'), fallback('y'), fallback('z')])
    clock.advance(10)
    expect(await store.settle({ ...mine, to, reason: 'opted_out' })).toEqual({
      live: true,
      others: [{ ...change, deliveryId: 'y', status: 'queued' }],
    })
    expect(await deliveriesOf(store, '1')).toMatchObject([
      { status: to },
      { status: 'queued', dueAt: clock.now(), deferred: true },
      { status: 'held' },
    ])
    expect(await claimOne(store, 'b')).toMatchObject({ deliveryId: 'y', deferred: true })
  })

  it('stays while the one before it is tried again', async () => {
    const { store, mine } = await leased([delivery('x'), fallback('y')])
    expect(await store.settle({ ...mine, to: 'queued', delayMs: 0, attempt: retry })).toEqual(ALONE)
    expect(await deliveriesOf(store, '1')).toMatchObject([{ status: 'queued' }, { status: 'held' }])
  })

  it('is passed over where its limits are spent', async () => {
    const limits = [{ key: 'l', max: 1, windowMs: HOUR }]
    const { store, mine } = await leased([delivery('x', { limits }), fallback('y', { limits }), fallback('z')])
    expect(await store.settle({ ...mine, to: 'failed', reason: 'channel_error' })).toEqual({
      live: true,
      others: [
        { ...change, deliveryId: 'y', status: 'skipped', reason: 'throttled' },
        { ...change, deliveryId: 'z', status: 'queued' },
      ],
    })
  })
})

describe('renewing', () => {
  it('lets a lease last from now, under the same fence', async () => {
    const { clock, store, mine } = await leased()
    clock.advance(900)
    expect(await store.renew(mine, 1_000)).toBe(true)
    clock.advance(999)
    expect(await claim(store)).toEqual({ deliveries: [], expired: [], nextDueInMs: 1 })
    expect(await store.settle({ ...mine, to: 'sent' })).toEqual(ALONE)
    expect(await store.renew(mine, 1_000)).toBe(false)
  })

  it('works after the end of the lease, as long as nobody else has it', async () => {
    const { clock, store, mine } = await leased()
    clock.advance(5_000)
    expect(await store.renew(mine, 1_000)).toBe(true)
    expect((await claim(store)).deliveries).toEqual([])
    clock.advance(1_000)
    expect((await claim(store)).deliveries).toHaveLength(1)
    expect(await store.renew(mine, 1_000)).toBe(false)
  })
})
