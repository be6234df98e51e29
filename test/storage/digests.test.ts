import { describe, expect, it } from 'vitest'
import type { NewDelivery, NewDigest, NewDispatch } from '../../src/ports/dispatch-store.ts'
import { openDigests } from '../../src/storage/memory/dispatch-indexes.ts'
import { dispatchRow } from '../../src/storage/rules/dispatch-rows.ts'
import { acceptance, claim, claimOne, deliveriesOf, delivery, digested, HOUR, lease, storeOn } from './storing.ts'

function digesting() {
  const { clock, store } = storeOn()
  const post = (
    id: string,
    digest: Partial<NewDigest> = {},
    rest: Partial<NewDelivery> = {},
    dispatch: Partial<NewDispatch> = {},
  ) => store.accept(acceptance(id, { deliveries: [digested(`${id}-a`, digest, rest)], ...dispatch }))
  const idsOf = async (...dispatchIds: readonly string[]) =>
    (await Promise.all(dispatchIds.map((id) => deliveriesOf(store, id)))).flat().map(({ deliveryId }) => deliveryId)
  return { clock, store, post, idsOf }
}

const events = (...dispatchIds: readonly string[]) =>
  dispatchIds.map((dispatchId) => ({ dispatchId, eventData: { of: `${dispatchId}-a` } }))

describe('a digest', () => {
  it('is one delivery of all the dispatches whose events are in it', async () => {
    const { clock, store, post } = digesting()
    await post('1')
    const dueAt = clock.now() + 1_000
    clock.advance(400)
    const joined = await post('2', {}, { limits: [] })
    expect(joined).toMatchObject({ answer: { deliveries: [{ deliveryId: '1-a', status: 'queued' }] } })
    const shared = {
      deliveryId: '1-a',
      channel: 'a',
      status: 'queued',
      attempts: 0,
      attemptLog: [],
      dueAt,
      deferred: true,
      address: 'jane@example.com',
      eventCount: 2,
    }
    const digest = { key: 'k', max: 3, recipient: { id: 'jane@example.com' }, events: events('1', '2') }
    expect(await deliveriesOf(store, '1')).toEqual([shared])
    expect(await deliveriesOf(store, '2')).toEqual([shared])
    clock.advance(600)
    const claimed = await claimOne(store)
    expect(claimed).toMatchObject({ deliveryId: '1-a', digest, waitedMs: 1_000, dispatch: { dispatchId: '1' } })
    expect(claimed).not.toHaveProperty('content')
    expect((await claim(store)).deliveries).toEqual([])
    await store.settle({ ...lease(claimed), to: 'sent' })
    for (const id of ['1', '2']) expect(await deliveriesOf(store, id)).toMatchObject([{ status: 'sent' }])
  })

  it('is of one tenant, event type, recipient, channel, address and key', async () => {
    const { post, idsOf, store } = digesting()
    await post('1')
    await post('2', {}, {}, { eventType: 'other' })
    await post('3', {}, {}, { recipient: 'other' })
    await post('4', {}, { channel: 'other' })
    await post('5', { key: 'other' })
    await post('6', {}, {}, { tenant: 'other' })
    await post('7', {}, {}, { sessionId: 'other' })
    await post('8', {}, { address: 'new@example.com' })
    await post('9', {}, { address: 'new@example.com' })
    expect(await idsOf('1', '2', '3', '4', '5', '7')).toEqual(['1-a', '2-a', '3-a', '4-a', '5-a', '1-a'])
    expect(await idsOf('8', '9')).toEqual(['8-a', '8-a'])
    expect((await store.findDispatch('other', '6'))?.deliveries).toMatchObject([{ deliveryId: '6-a' }])
  })

  it('is not joined by what is no digest', async () => {
    const { store, post, idsOf } = digesting()
    await post('1', { key: '' })
    await store.accept(acceptance('2'))
    expect(await idsOf('2')).toEqual(['2-a'])
  })

  it('is closed when it is full, and the next one opens another', async () => {
    const { post, idsOf } = digesting()
    for (const id of ['1', '2', '3', '4', '5']) await post(id, { max: 2 })
    expect(await idsOf('1', '2', '3', '4', '5')).toEqual(['1-a', '1-a', '3-a', '3-a', '5-a'])
  })

  it('is closed when it is due, whether or not it is claimed', async () => {
    const { clock, post, idsOf } = digesting()
    await post('1')
    clock.advance(999)
    await post('2')
    clock.advance(1)
    await post('3')
    expect(await idsOf('1', '2', '3')).toEqual(['1-a', '1-a', '3-a'])
  })

  it('is closed while it is sending, and once it is rendered', async () => {
    const { clock, store, post, idsOf } = digesting()
    await post('1')
    clock.advance(1_000)
    const claimed = await claimOne(store)
    await post('2')
    await store.settle({ ...lease(claimed), to: 'queued', delayMs: 5_000, content: { text: 'rendered' } })
    await post('3')
    expect(await idsOf('2', '3')).toEqual(['2-a', '2-a'])
    clock.advance(5_000)
    const { deliveries } = await claim(store)
    expect(deliveries).toMatchObject([
      { deliveryId: '2-a' },
      { deliveryId: '1-a', content: { text: 'rendered' }, attempts: 1, history: [] },
    ])
    expect(deliveries[1]).not.toHaveProperty('digest')
    expect(await deliveriesOf(store, '1')).toMatchObject([{ content: { text: 'rendered' }, eventCount: 1 }])
  })

  it('is open again when it is put back for later without having been rendered', async () => {
    const { clock, store, post, idsOf } = digesting()
    await post('1')
    clock.advance(1_000)
    await store.settle({ ...lease(await claimOne(store)), to: 'queued', delayMs: 500 })
    await post('2')
    expect(await idsOf('2')).toEqual(['1-a'])
  })

  it('has the limits of its first event counted, and of no other', async () => {
    const { post, idsOf, store } = digesting()
    const limits = [{ key: 'l', max: 1, windowMs: HOUR }]
    for (const id of ['1', '2', '3', '4']) await post(id, { max: 3 }, { limits })
    expect(await idsOf('1', '2', '3')).toEqual(['1-a', '1-a', '1-a'])
    expect(await deliveriesOf(store, '4')).toMatchObject([
      { deliveryId: '4-a', status: 'skipped', reason: 'throttled' },
    ])
  })

  it('expires as one', async () => {
    const { clock, store, post } = digesting()
    await post('1')
    await post('2')
    clock.advance(100 * HOUR)
    expect((await claim(store)).expired).toMatchObject([{ deliveryId: '1-a', dispatch: { dispatchId: '1' } }])
    expect(await deliveriesOf(store, '2')).toMatchObject([{ status: 'expired' }])
  })

  it('is worth sending for as long as the event that joined it last', async () => {
    const { clock, store, post } = digesting()
    await store.accept(acceptance('1', { deliveries: [digested('1-a')] }, { expiresInMs: 500 }))
    clock.advance(1_000)
    await store.settle({ ...lease(await claimOne(store)), to: 'queued', delayMs: 400 })
    await store.accept(acceptance('2', { deliveries: [digested('2-a')] }, { expiresInMs: 500 }))
    clock.advance(600)
    expect(await claimOne(store)).toMatchObject({ deliveryId: '1-a', waitedMs: 1_600, expiresInMs: 900 })
    await post('3')
    await store.accept(acceptance('4', { deliveries: [digested('4-a')] }, { expiresInMs: 1 }))
    clock.advance(1_001)
    expect((await claim(store)).expired).toEqual([])
  })

  it('may stand beside other deliveries', async () => {
    const { store, post } = digesting()
    await post('1')
    await store.accept(acceptance('2', { deliveries: [delivery('x'), digested('y'), delivery('z')] }))
    expect(await deliveriesOf(store, '2')).toMatchObject([
      { deliveryId: 'x' },
      { deliveryId: '1-a' },
      { deliveryId: 'z' },
    ])
  })
})

describe('the open digests', () => {
  const opened = (deliveryId: string) => {
    const [row] = dispatchRow(
      acceptance('1', { deliveries: [digested(deliveryId, { max: 2 })] }).dispatch,
      1,
      0,
    ).deliveries
    if (!row) throw new Error('there is no row')
    return row
  }

  it('are only those that may be joined', () => {
    const digests = openDigests()
    const row = opened('x')
    for (const [change, size] of [
      [{}, 1],
      [{ status: 'sending' }, 0],
      [{ status: 'queued' }, 1],
      [{ content: { text: 'x' } }, 0],
      [{ content: undefined }, 1],
      [{ status: 'cancelled' }, 0],
    ] as const) {
      Object.assign(row, change)
      digests.update(row)
      digests.update(row)
      expect([change, digests.size]).toEqual([change, size])
    }
  })

  it('forget one that is found to be due', () => {
    const digests = openDigests()
    const row = opened('x')
    digests.update(row)
    expect(digests.find(opened('y'), row.wakeAt - 1)).toBe(row)
    expect(digests.find(opened('y'), row.wakeAt)).toBeUndefined()
    expect(digests.size).toBe(0)
  })
})
