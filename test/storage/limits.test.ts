import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { SendLimit } from '../../src/ports/delivery-policy.ts'
import type { NewDispatch } from '../../src/ports/dispatch-store.ts'
import { memoryCounters } from '../../src/storage/memory/counters.ts'
import { sendLimits } from '../../src/storage/rules/send-limits.ts'
import { acceptance, claimOne, deliveriesOf, delivery, HOUR, lease, storeOn } from './storing.ts'

const limit = (max: number, key = 'l', windowMs = 1_000): SendLimit => ({ key, max, windowMs })

function counting() {
  const { clock, store } = storeOn()
  let count = 0
  async function statuses(limits: readonly SendLimit[], rest: Partial<NewDispatch> = {}): Promise<string[]> {
    const id = `${count++}`
    const tenant = rest.tenant ?? 'default'
    await store.accept(acceptance(id, { deliveries: [delivery(id, { limits })], ...rest }))
    return (await store.findDispatch(tenant, id))?.deliveries.map(({ status, reason }) => reason ?? status) ?? []
  }
  return { clock, store, statuses }
}

describe('limits', () => {
  it('a limit is a sliding window to the millisecond', async () => {
    const { clock, statuses } = counting()
    expect(await statuses([limit(2)])).toEqual(['queued'])
    clock.advance(600)
    expect(await statuses([limit(2)])).toEqual(['queued'])
    clock.advance(399)
    expect(await statuses([limit(2)])).toEqual(['throttled'])
    clock.advance(1)
    expect(await statuses([limit(2)])).toEqual(['queued'])
    expect(await statuses([limit(2)])).toEqual(['throttled'])
    clock.advance(599)
    expect(await statuses([limit(2)])).toEqual(['throttled'])
    clock.advance(1)
    expect(await statuses([limit(2)])).toEqual(['queued'])
  })

  it('a limit that is named twice counts a delivery once, with the smaller maximum', async () => {
    const { clock, statuses } = counting()
    expect(await statuses([limit(2), limit(3)])).toEqual(['queued'])
    expect(await statuses([limit(2)])).toEqual(['queued'])
    expect(await statuses([limit(2)])).toEqual(['throttled'])
    expect(await statuses([limit(3)])).toEqual(['queued'])
    expect(await statuses([limit(1, 'm'), limit(5, 'm', 10)])).toEqual(['queued'])
    clock.advance(10)
    expect(await statuses([limit(1, 'm')])).toEqual(['throttled'])
  })

  it('a raised or longer limit keeps the earlier counts', async () => {
    const { clock, statuses } = counting()
    await statuses([limit(1, 'l', 100)])
    for (const found of ['queued', 'queued', 'throttled']) expect(await statuses([limit(3)])).toEqual([found])
    clock.advance(999)
    expect(await statuses([limit(3)])).toEqual(['throttled'])
    clock.advance(1)
    expect(await statuses([limit(3)])).toEqual(['queued'])
  })

  it('with the route all, a throttled delivery queues no held one', async () => {
    const { store, statuses } = counting()
    await statuses([limit(1)])
    const deliveries = [delivery('x', { limits: [limit(1)] }), delivery('y', { status: 'held' })]
    await store.accept(acceptance('all', { deliveries }))
    expect(await deliveriesOf(store, 'all')).toMatchObject([{ status: 'skipped' }, { status: 'held' }])
  })

  it('a held delivery counts when it is queued, and only the first time', async () => {
    const { clock, store, statuses } = counting()
    const limits = [limit(2, 'l', HOUR)]
    const deliveries = [delivery('x'), delivery('y', { channel: 'b', status: 'held', limits })]
    await store.accept(acceptance('first', { route: 'first', deliveries }))
    clock.advance(1)
    expect(await statuses(limits)).toEqual(['queued'])
    const fail = async (channel: string) =>
      store.settle({ ...lease(await claimOne(store, channel)), to: 'failed', reason: 'channel_error' })
    await fail('a')
    await fail('b')
    expect(await statuses(limits)).toEqual(['throttled'])
    await fail('a')
    await store.retry('default', 'first', { expiresInMs: HOUR })
    await fail('a')
    expect(await deliveriesOf(store, 'first')).toMatchObject([{ status: 'failed' }, { status: 'queued' }])
  })

  it('limits accept as many as a count of all times, for any sequence', () => {
    const take = fc.record({ ms: fc.integer({ min: 0, max: 40 }), keys: fc.subarray([0, 1, 2], { minLength: 1 }) })
    const limits = [limit(1, 'a', 30), limit(3, 'b', 100), limit(2, 'c', 7)]
    fc.assert(
      fc.property(fc.array(take, { maxLength: 80, size: 'max' }), (takes) => {
        const real = sendLimits(memoryCounters())
        const times: number[][] = [[], [], []]
        let now = 1_000
        for (const { ms, keys } of takes) {
          now += ms
          const fits = keys.every((key) => {
            const { max = 0, windowMs = 0 } = limits[key] ?? {}
            return (times[key] ?? []).filter((time) => time > now - windowMs).length < max
          })
          if (fits) for (const key of keys) times[key]?.push(now)
          expect(
            real.take(
              't',
              keys.flatMap((key) => limits[key] ?? []),
              now,
            ),
          ).toBe(fits)
        }
      }),
      { numRuns: 300 },
    )
  })
})
