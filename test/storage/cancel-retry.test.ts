import { describe, expect, it } from 'vitest'
import type { NewDelivery } from '../../src/ports/dispatch-store.ts'
import { acceptance, claim, claimOne, deliveriesOf, delivery, HOUR, lease, storeOn } from './storing.ts'

const attempt = { outcome: 'rejected', code: 'no' } as const

async function stored(deliveries: readonly NewDelivery[], route: 'all' | 'first' = 'all') {
  const { clock, store } = storeOn()
  await store.accept(acceptance('1', { route, deliveries }, { expiresInMs: HOUR }))
  const fail = async (channel = 'a') =>
    store.settle({ ...lease(await claimOne(store, channel)), to: 'failed', reason: 'provider_rejected', attempt })
  const statuses = async () => (await deliveriesOf(store, '1')).map(({ status }) => status)
  return { clock, store, fail, statuses }
}

describe('cancel of a delivery that is being sent', () => {
  const retry = { outcome: 'retry', code: 'busy' } as const

  async function asked() {
    const { clock, store, statuses } = await stored([delivery('x'), delivery('y', { channel: 'b', status: 'held' })])
    const claimed = await claimOne(store, 'a', 1_000)
    const changed = (await store.cancel('default', '1'))?.changed
    expect([changed?.map(({ deliveryId }) => deliveryId), await statuses()]).toEqual([['y'], ['sending', 'cancelled']])
    return { clock, store, statuses, claimed, mine: lease(claimed) }
  }

  it('A delivery cancelled while it is sent is due for the next claim when its lease ends', async () => {
    const { clock, store, mine, statuses } = await asked()
    clock.advance(1_000)
    expect(await claim(store, { a: 0 })).toMatchObject({ deliveries: [], nextDueInMs: 0 })
    expect(await claim(store)).toMatchObject({ deliveries: [], expired: [] })
    expect(await statuses()).toEqual(['cancelled', 'cancelled'])
    expect(await store.settle({ ...mine, to: 'sent' })).toEqual({ live: false })
  })

  it('A delivery cancelled while it is sent can fail, be retried, cancelled again and sent', async () => {
    const { store, mine, statuses } = await asked()
    await store.settle({ ...mine, to: 'failed', reason: 'provider_rejected', attempt })
    expect(await statuses()).toEqual(['failed', 'cancelled'])
    await store.retry('default', '1', { expiresInMs: HOUR })
    await store.settle({ ...lease(await claimOne(store)), to: 'queued', delayMs: 0, attempt: retry })
    expect(await statuses()).toEqual(['queued', 'cancelled'])
    const again = await claimOne(store)
    await store.cancel('default', '1')
    await store.settle({ ...lease(again), to: 'sent' })
    expect(await statuses()).toEqual(['sent', 'cancelled'])
  })
})

describe('retry', () => {
  describe('route first', () => {
    it('With the route first, a retried delivery with a spent limit is throttled when its turn comes', async () => {
      const limits = [{ key: 'k', max: 1, windowMs: 10_000 }]
      const { clock, store, statuses } = await stored(
        [
          delivery('x'),
          delivery('y', { channel: 'b', status: 'held', limits }),
          delivery('z', { channel: 'c', status: 'held' }),
        ],
        'first',
      )
      clock.advance(HOUR)
      await claim(store)
      expect(await statuses()).toEqual(['expired', 'expired', 'expired'])
      await store.accept(acceptance('2', { deliveries: [delivery('w', { channel: 'd', limits })] }))
      await store.retry('default', '1', { expiresInMs: HOUR })
      expect(await statuses()).toEqual(['queued', 'held', 'held'])
      const { deliveryId, fence } = await claimOne(store)
      await store.settle({ deliveryId, fence, to: 'failed', reason: 'provider_rejected' })
      expect(await statuses()).toEqual(['failed', 'skipped', 'queued'])
    })
  })
})
