import { describe, expect, it } from 'vitest'
import type { SendLimit } from '../../src/ports/delivery-policy.ts'
import type { NewDispatch } from '../../src/ports/dispatch-store.ts'
import { type Counter, sendLimits } from '../../src/storage/rules/delivery-transitions.ts'
import { fc, runs } from '../support/properties.ts'
import { acceptance, claimOne, deliveriesOf, delivery, HOUR, keyed, lease, storeOn } from './storing.ts'

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

describe('a limit', () => {
  it('A limit allows its maximum in any window, and throttles the rest', async () => {
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

  it('accept answers with throttled deliveries as skipped', async () => {
    const { store } = storeOn()
    const deliveries = [delivery('x', { limits: [limit(1)] }), delivery('y', { limits: [limit(1)] })]
    expect(await store.accept(acceptance('1', { deliveries }))).toMatchObject({
      answer: { deliveries: [{ status: 'queued' }, { status: 'skipped', reason: 'throttled' }] },
    })
  })

  it('A limit belongs to a tenant and a key', async () => {
    const { statuses } = counting()
    expect(await statuses([limit(1)])).toEqual(['queued'])
    expect(await statuses([limit(1, 'other')])).toEqual(['queued'])
    expect(await statuses([limit(1)], { tenant: 'other' })).toEqual(['queued'])
    expect(await statuses([limit(1)])).toEqual(['throttled'])
  })

  it('A limit is not counted if another limit of the same delivery is spent', async () => {
    const { statuses } = counting()
    await statuses([limit(1, 'spent')])
    expect(await statuses([limit(1, 'free'), limit(1, 'spent')])).toEqual(['throttled'])
    expect(await statuses([limit(1, 'free')])).toEqual(['queued'])
  })

  it('A message with one limit key twice counts once', async () => {
    const { clock, statuses } = counting()
    expect(await statuses([limit(2), limit(3)])).toEqual(['queued'])
    expect(await statuses([limit(2)])).toEqual(['queued'])
    expect(await statuses([limit(2)])).toEqual(['throttled'])
    expect(await statuses([limit(3)])).toEqual(['queued'])
    expect(await statuses([limit(1, 'm'), limit(5, 'm', 10)])).toEqual(['queued'])
    clock.advance(10)
    expect(await statuses([limit(1, 'm')])).toEqual(['throttled'])
  })

  it('A limit with a raised maximum or a longer window keeps its earlier counts', async () => {
    const { clock, statuses } = counting()
    await statuses([limit(1, 'l', 100)])
    for (const found of ['queued', 'queued', 'throttled']) expect(await statuses([limit(3)])).toEqual([found])
    clock.advance(999)
    expect(await statuses([limit(3)])).toEqual(['throttled'])
    clock.advance(1)
    expect(await statuses([limit(3)])).toEqual(['queued'])
  })

  it('Neither replays nor deliveries that are not queued count towards a limit', async () => {
    const { store } = storeOn()
    const limits = [limit(1)]
    const { idempotency } = keyed('1')
    const post = (id: string) =>
      store.accept({
        ...acceptance(id, { deliveries: [delivery(id, { limits: [limit(2)] })] }),
        ...(idempotency && { idempotency }),
      })
    await post('1')
    expect(await post('2')).toMatchObject({ outcome: 'replayed' })
    const deliveries = (['skipped', 'failed', 'held'] as const).map((status) => delivery(status, { status, limits }))
    await store.accept(acceptance('3', { route: 'first', deliveries }))
    await store.accept(acceptance('4', { deliveries: [delivery('x', { limits: [limit(2)] })] }))
    expect(await deliveriesOf(store, '4')).toMatchObject([{ status: 'queued' }])
  })

  it('With the route first, the next delivery is queued at once in place of a throttled one', async () => {
    const { clock, store, statuses } = counting()
    const deliveries = [
      delivery('x', { limits: [limit(1)], delayMs: 70 }),
      delivery('y', { limits: [limit(1)], status: 'held' }),
      delivery('z', { status: 'held', deferred: true }),
      delivery('w', { status: 'held' }),
    ]
    await statuses([limit(1)])
    await store.accept(acceptance('first', { route: 'first', deliveries }))
    const throttled = { status: 'skipped', reason: 'throttled' }
    const dueAt = clock.now() + 70
    expect(await deliveriesOf(store, 'first')).toMatchObject([
      throttled,
      throttled,
      { status: 'queued', dueAt, deferred: true },
      { status: 'held' },
    ])
  })

  it('With the route all, a throttled delivery does not promote held ones', async () => {
    const { store, statuses } = counting()
    await statuses([limit(1)])
    const deliveries = [delivery('x', { limits: [limit(1)] }), delivery('y', { status: 'held' })]
    await store.accept(acceptance('all', { deliveries }))
    expect(await deliveriesOf(store, 'all')).toMatchObject([{ status: 'skipped' }, { status: 'held' }])
  })

  it('A held delivery counts when it is promoted, and only the first time', async () => {
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

  it('A later change of the given limits does not change those of a held delivery', async () => {
    const { store, statuses } = counting()
    const limits = [{ key: 'l', max: 1, windowMs: HOUR }]
    await statuses(limits)
    const deliveries = [delivery('x', { channel: 'b' }), delivery('y', { status: 'held', limits })]
    await store.accept(acceptance('first', { route: 'first', deliveries }))
    Object.assign(limits[0] ?? {}, { max: 1_000 })
    const claimed = await claimOne(store, 'b')
    const reason = 'throttled'
    expect(await store.settle({ ...lease(claimed), to: 'failed', reason: 'channel_error' })).toMatchObject({
      others: [{ deliveryId: 'y', status: 'skipped', reason }],
    })
  })

  it('Limits allow exactly what a count of all times allows', () => {
    const take = fc.record({ ms: fc.integer({ min: 0, max: 40 }), keys: fc.subarray([0, 1, 2], { minLength: 1 }) })
    const limits = [limit(1, 'a', 30), limit(3, 'b', 100), limit(2, 'c', 7)]
    fc.assert(
      fc.property(fc.array(take, { maxLength: 80, size: 'max' }), (takes) => {
        const counters = new Map<string, Counter>()
        const real = sendLimits({
          find: (_, name) => counters.get(name),
          keep: (counter) => void counters.set(counter.name, counter),
        })
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
      { numRuns: runs(300) },
    )
  })
})
