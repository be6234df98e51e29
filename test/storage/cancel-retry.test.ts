import { describe, expect, it } from 'vitest'
import type { NewDelivery } from '../../src/ports/dispatch-store.ts'
import { acceptance, claim, claimOne, deliveriesOf, delivery, digested, HOUR, lease, storeOn } from './storing.ts'

const attempt = { outcome: 'rejected', code: 'no' } as const

async function stored(deliveries: readonly NewDelivery[], route: 'all' | 'first' = 'all') {
  const { clock, store } = storeOn()
  await store.accept(acceptance('1', { route, deliveries }, { expiresInMs: HOUR }))
  const fail = async (channel = 'a') =>
    store.settle({ ...lease(await claimOne(store, channel)), to: 'failed', reason: 'provider_rejected', attempt })
  const statuses = async () => (await deliveriesOf(store, '1')).map(({ status }) => status)
  return { clock, store, fail, statuses }
}

describe('cancelling', () => {
  it('makes what is queued and held cancelled, and leaves the rest', async () => {
    const { store, statuses } = await stored([
      delivery('x', { channel: 'b' }),
      delivery('y', { delayMs: 500 }),
      delivery('z', { status: 'held' }),
      delivery('w', { status: 'skipped', reason: 'no_address' }),
    ])
    const claimed = await claimOne(store, 'b')
    const changed = await store.cancel('default', '1')
    expect(changed).toEqual({
      changed: [
        { deliveryId: 'y', channel: 'a', status: 'cancelled', attempts: 0 },
        { deliveryId: 'z', channel: 'a', status: 'cancelled', attempts: 0 },
      ],
      dispatch: await store.findDispatch('default', '1'),
    })
    expect(await statuses()).toEqual(['sending', 'cancelled', 'cancelled', 'skipped'])
    expect((await deliveriesOf(store, '1'))[1]).not.toHaveProperty('dueAt')
    expect(await claim(store)).toEqual({ deliveries: [], expired: [] })
    expect(await store.settle({ ...lease(claimed), to: 'failed', reason: 'channel_error' })).toMatchObject({
      others: [],
    })
  })

  it('changes nothing the second time, and knows no other dispatch', async () => {
    const { store } = await stored([delivery('x')])
    await store.cancel('default', '1')
    expect(await store.cancel('default', '1')).toMatchObject({ changed: [], dispatch: { dispatchId: '1' } })
    expect(await store.cancel('default', 'nothing')).toBeUndefined()
  })
})

describe('cancelling what is being sent', () => {
  const retry = { outcome: 'retry', code: 'busy' } as const

  async function asked() {
    const { clock, store, statuses } = await stored([delivery('x'), delivery('y', { channel: 'b', status: 'held' })])
    const claimed = await claimOne(store, 'a', 1_000)
    const changed = (await store.cancel('default', '1'))?.changed
    expect([changed?.map(({ deliveryId }) => deliveryId), await statuses()]).toEqual([['y'], ['sending', 'cancelled']])
    return { clock, store, statuses, claimed, mine: lease(claimed) }
  }

  it.each([{ attempt: retry }, {}])('makes it cancelled once %j would have queued it again', async (end) => {
    const { clock, store, mine } = await asked()
    const settled = await store.settle({ ...mine, to: 'queued', delayMs: 5, ...end })
    expect(settled).toEqual({ live: true, others: [], cancelled: true })
    const [x] = await deliveriesOf(store, '1')
    expect(x).toMatchObject({ status: 'cancelled', attempts: end.attempt ? 1 : 0 })
    expect(x?.attemptLog).toMatchObject(end.attempt ? [retry] : [])
    expect(x).not.toHaveProperty('dueAt')
    clock.advance(5)
    expect(await claim(store)).toEqual({ deliveries: [], expired: [] })
    expect(await store.retry('default', '1', { expiresInMs: HOUR })).toMatchObject({ changed: [] })
  })

  it('makes it cancelled once its lease has ended', async () => {
    const { clock, store, mine, statuses } = await asked()
    clock.advance(1_000)
    expect(await claim(store, { a: 0 })).toMatchObject({ deliveries: [], nextDueInMs: 0 })
    expect(await claim(store)).toEqual({ deliveries: [], expired: [] })
    expect(await statuses()).toEqual(['cancelled', 'cancelled'])
    expect(await store.settle({ ...mine, to: 'sent' })).toEqual({ live: false })
  })

  it('lets it be sent or fail all the same, or be tried again when that is asked for', async () => {
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

describe('retrying', () => {
  it('queues what failed and expired, due now, with a schedule and an expiry of its own', async () => {
    const { clock, store, fail } = await stored([delivery('x'), delivery('y', { channel: 'b' })])
    await fail()
    clock.advance(HOUR)
    await claim(store, { b: 1 })
    expect(await store.retry('default', '1', { expiresInMs: 500 })).toEqual({
      changed: [
        { deliveryId: 'x', channel: 'a', status: 'queued', attempts: 1 },
        { deliveryId: 'y', channel: 'b', status: 'queued', attempts: 0 },
      ],
      dispatch: await store.findDispatch('default', '1'),
    })
    const [x] = await deliveriesOf(store, '1')
    expect(x).toMatchObject({
      status: 'queued',
      dueAt: clock.now(),
      attempts: 1,
      lastCode: 'no',
      attemptLog: [attempt],
    })
    expect(x).not.toHaveProperty('reason')
    const { deliveries } = await claim(store, { a: 1, b: 1 })
    expect(deliveries).toMatchObject([
      { deliveryId: 'x', attempts: 2, attemptsBefore: 1, expiresInMs: 500, history: [attempt] },
      { deliveryId: 'y', attempts: 1, expiresInMs: 500 },
    ])
    expect(deliveries[1]).not.toHaveProperty('attemptsBefore')
  })

  it('takes only the channel that is named', async () => {
    const { store, fail, statuses } = await stored([delivery('x'), delivery('y', { channel: 'b' })])
    await fail()
    await fail('b')
    await store.retry('default', '1', { channel: 'b', expiresInMs: HOUR })
    expect(await statuses()).toEqual(['failed', 'queued'])
  })

  it('does not mind, with the route all, what is sent or under way', async () => {
    const { store, fail, statuses } = await stored([
      delivery('x'),
      delivery('y', { channel: 'b' }),
      delivery('z', { channel: 'c' }),
    ])
    await fail()
    await store.settle({ ...lease(await claimOne(store, 'b')), to: 'sent' })
    await store.retry('default', '1', { expiresInMs: HOUR })
    expect(await statuses()).toEqual(['queued', 'sent', 'queued'])
  })

  it('leaves what has nowhere to go, nothing to say, or another end', async () => {
    const { address: _, ...nowhere } = delivery('x', { status: 'failed' })
    const { content: __, ...mute } = delivery('y', { status: 'failed' })
    const { store } = await stored([nowhere, mute, delivery('z', { status: 'skipped' }), delivery('w')])
    await store.cancel('default', '1')
    expect(await store.retry('default', '1', { expiresInMs: HOUR })).toMatchObject({ changed: [] })
    expect(await store.retry('default', 'nothing', { expiresInMs: HOUR })).toBeUndefined()
  })

  it('queues a digest again that could not be rendered', async () => {
    const { store, fail } = await stored([digested('x', {}, { delayMs: 0 })])
    await fail()
    await store.retry('default', '1', { expiresInMs: HOUR })
    const claimed = await claimOne(store)
    expect(claimed).toMatchObject({ digest: { events: [{ dispatchId: '1' }] } })
    expect(claimed).not.toHaveProperty('content')
  })

  describe('with the route first', () => {
    const three = [
      delivery('x'),
      delivery('y', { channel: 'b', status: 'held' }),
      delivery('z', { channel: 'c', status: 'held' }),
    ]

    it('queues the first and holds the others', async () => {
      const { store, fail, statuses } = await stored(three, 'first')
      for (const channel of ['a', 'b', 'c']) await fail(channel)
      expect(await store.retry('default', '1', { expiresInMs: 500 })).toMatchObject({
        changed: [{ status: 'queued' }, { status: 'held' }, { status: 'held' }],
      })
      expect(await statuses()).toEqual(['queued', 'held', 'held'])
      await fail()
      expect(await statuses()).toEqual(['failed', 'queued', 'held'])
      expect(await claimOne(store, 'b')).toMatchObject({ expiresInMs: 500, attemptsBefore: 1 })
    })

    it('passes over one whose limit is spent: it was never counted before', async () => {
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

    it('promotes the next when the limit of the first is spent', async () => {
      const limits = [{ key: 'k', max: 1, windowMs: 10_000 }]
      const { clock, store, statuses } = await stored(
        [
          delivery('x', { limits }),
          delivery('y', { channel: 'b', status: 'held', limits }),
          delivery('z', { channel: 'c', status: 'held' }),
        ],
        'first',
      )
      clock.advance(HOUR)
      await claim(store)
      await store.accept(acceptance('2', { deliveries: [delivery('w', { channel: 'd', limits })] }))
      const { changed } = (await store.retry('default', '1', { channel: 'b', expiresInMs: HOUR })) ?? {}
      expect(changed).toEqual([{ deliveryId: 'y', channel: 'b', status: 'skipped', reason: 'throttled', attempts: 0 }])
      expect(await statuses()).toEqual(['expired', 'skipped', 'expired'])
    })

    it('queues the one that is named, alone', async () => {
      const { store, fail, statuses } = await stored(three, 'first')
      for (const channel of ['a', 'b', 'c']) await fail(channel)
      await store.retry('default', '1', { channel: 'b', expiresInMs: 500 })
      expect(await statuses()).toEqual(['failed', 'queued', 'failed'])
    })

    it('does nothing where something is sent, or may yet be', async () => {
      const { store, fail } = await stored(three.slice(0, 2), 'first')
      const retry = async () => (await store.retry('default', '1', { expiresInMs: 500 }))?.changed
      await fail()
      expect(await retry()).toEqual([])
      const claimed = await claimOne(store, 'b')
      expect(await retry()).toEqual([])
      await store.settle({ ...lease(claimed), to: 'sent' })
      expect(await retry()).toEqual([])
    })
  })
})
