import { describe, expect, it } from 'vitest'
import type { NewDelivery } from '../../src/ports/dispatch-store.ts'
import { acceptance, claim, claimOne, deliveriesOf, delivery, lease, storeOn } from './storing.ts'

const ALONE = { live: true, others: [] }
const retry = { outcome: 'retry', code: 'busy' } as const

async function leased(deliveries: readonly NewDelivery[] = [delivery('x')]) {
  const { clock, store } = storeOn()
  await store.accept(acceptance('1', { route: 'first', deliveries }))
  const claimed = await claimOne(store, 'a', 1_000)
  return { clock, store, claimed, mine: lease(claimed), startedAt: clock.now() }
}

describe('settle', () => {
  it('settle as queued makes the delivery due at exactly the end of the delay', async () => {
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

  it('The attempt log keeps exactly the newest fifty attempts, even when one is taken back', async () => {
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
})

describe('renew', () => {
  it('A renewed lease lasts exactly its length from the renewal on', async () => {
    const { clock, store, mine } = await leased()
    clock.advance(900)
    expect(await store.renew(mine, 1_000)).toBe(true)
    clock.advance(999)
    expect(await claim(store)).toEqual({ deliveries: [], expired: [], nextDueInMs: 1 })
    expect(await store.settle({ ...mine, to: 'sent' })).toEqual(ALONE)
    expect(await store.renew(mine, 1_000)).toBe(false)
  })
})
