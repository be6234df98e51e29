import { describe, expect, it } from 'vitest'
import type { NewDigest } from '../../src/ports/dispatch-store.ts'
import { acceptance, claim, claimOne, deliveriesOf, digested, lease, storeOn } from './storing.ts'

function digesting() {
  const { clock, store } = storeOn()
  const post = (id: string, digest: Partial<NewDigest> = {}) =>
    store.accept(acceptance(id, { deliveries: [digested(`${id}-a`, digest)] }))
  const idsOf = async (...dispatchIds: readonly string[]) =>
    (await Promise.all(dispatchIds.map((id) => deliveriesOf(store, id)))).flat().map(({ deliveryId }) => deliveryId)
  return { clock, store, post, idsOf }
}

/** A digest of these that is being sent, and may be rendered. */
async function sendingOf(...dispatchIds: readonly string[]) {
  const { clock, store, post } = digesting()
  for (const id of dispatchIds) await post(id)
  clock.advance(1_000)
  const claimed = await claimOne(store)
  const rendered = () => store.settle({ ...lease(claimed), to: 'queued', delayMs: 0, content: { text: 'rendered' } })
  const statuses = async () =>
    (await Promise.all(dispatchIds.map((id) => deliveriesOf(store, id)))).flat().map(({ status }) => status)
  return { clock, store, claimed, rendered, statuses }
}

const events = (...dispatchIds: readonly string[]) =>
  dispatchIds.map((dispatchId) => ({ dispatchId, eventData: { of: `${dispatchId}-a` } }))

describe('cancelling a dispatch of a digest', () => {
  it('takes only its own event out, and leaves it a record of its own', async () => {
    const { clock, store, post } = digesting()
    for (const id of ['1', '2', '3']) await post(id)
    expect(await store.cancel('default', '1')).toMatchObject({
      changed: [{ deliveryId: '1-a', channel: 'a', status: 'cancelled', attempts: 0 }],
      dispatch: { dispatchId: '1', deliveries: [{ status: 'cancelled', eventCount: 1 }] },
    })
    for (const id of ['2', '3']) {
      expect(await deliveriesOf(store, id)).toMatchObject([{ deliveryId: '1-a', status: 'queued', eventCount: 2 }])
    }
    clock.advance(1_000)
    const claimed = await claimOne(store)
    expect(claimed).toMatchObject({
      deliveryId: '1-a',
      dispatch: { dispatchId: '2' },
      digest: { events: events('2', '3') },
    })
    await store.settle({ ...lease(claimed), to: 'sent', attempt: { outcome: 'sent' } })
    expect(await deliveriesOf(store, '1')).toMatchObject([{ status: 'cancelled', attempts: 0, attemptLog: [] }])
    expect(await deliveriesOf(store, '3')).toMatchObject([{ status: 'sent' }])
  })

  it('keeps the attempts that were made for it, and no later ones', async () => {
    const { clock, store, post } = digesting()
    await post('1')
    await post('2')
    clock.advance(1_000)
    const attempt = { outcome: 'retry', code: 'busy' } as const
    await store.settle({ ...lease(await claimOne(store)), to: 'queued', delayMs: 0, attempt })
    await store.cancel('default', '2')
    await claimOne(store)
    const log = [{ attempt: 1, startedAt: clock.now(), endedAt: clock.now(), ...attempt }]
    expect(await deliveriesOf(store, '2')).toMatchObject([{ status: 'cancelled', attempts: 1, attemptLog: log }])
    expect(await deliveriesOf(store, '1')).toMatchObject([{ status: 'sending', attempts: 2 }])
  })

  it('cancels the delivery with its last event, and the next one opens another', async () => {
    const { clock, store, post, idsOf } = digesting()
    await post('1')
    await post('2')
    await store.cancel('default', '2')
    expect(await store.cancel('default', '1')).toMatchObject({ changed: [{ deliveryId: '1-a', status: 'cancelled' }] })
    expect(await store.cancel('default', '1')).toMatchObject({ changed: [] })
    await post('3')
    expect(await idsOf('3')).toEqual(['3-a'])
    clock.advance(1_000)
    expect((await claim(store)).deliveries).toMatchObject([{ deliveryId: '3-a' }])
  })

  it('makes room in a full one, which is joined before those that were opened later', async () => {
    const { store, post, idsOf } = digesting()
    for (const id of ['1', '2', '3']) await post(id, { max: 2 })
    await store.cancel('default', '1')
    await post('4', { max: 2 })
    await post('5', { max: 2 })
    expect(await idsOf('4', '5')).toEqual(['1-a', '3-a'])
  })

  it('cancels a rendered one once all whose it is have asked for it, and tells the last', async () => {
    const { clock, store, rendered, statuses } = await sendingOf('1', '2')
    await rendered()
    const before = await deliveriesOf(store, '1')
    for (const id of ['2', '2']) expect(await store.cancel('default', id)).toMatchObject({ changed: [] })
    for (const id of ['1', '2']) expect(await deliveriesOf(store, id)).toEqual(before)
    expect(await store.cancel('default', '1')).toMatchObject({
      changed: [{ deliveryId: '1-a', channel: 'a', status: 'cancelled', attempts: 0 }],
    })
    expect(await statuses()).toEqual(['cancelled', 'cancelled'])
    clock.advance(1_000)
    expect(await claim(store)).toEqual({ deliveries: [], expired: [] })
  })

  it('sends a rendered one that not all want to be cancelled', async () => {
    const { store, rendered, statuses } = await sendingOf('1', '2')
    await rendered()
    await store.cancel('default', '1')
    const claimed = await claimOne(store)
    await store.settle({ ...lease(claimed), to: 'queued', delayMs: 0, attempt: { outcome: 'retry' } })
    expect(await statuses()).toEqual(['queued', 'queued'])
    await store.settle({ ...lease(await claimOne(store)), to: 'sent' })
    expect(await statuses()).toEqual(['sent', 'sent'])
  })

  it('takes its event out of one that is sending once that is put back, not rendered', async () => {
    const { clock, store, claimed, statuses } = await sendingOf('1', '2', '3')
    expect(await store.cancel('default', '1')).toMatchObject({ changed: [] })
    expect(await statuses()).toEqual(['sending', 'sending', 'sending'])
    await store.settle({ ...lease(claimed), to: 'queued', delayMs: 5 })
    expect(await statuses()).toEqual(['cancelled', 'queued', 'queued'])
    await store.accept(acceptance('4', { deliveries: [digested('4-a')] }))
    clock.advance(5)
    expect(await claimOne(store)).toMatchObject({
      dispatch: { dispatchId: '2' },
      digest: { events: events('2', '3', '4') },
    })
    await store.cancel('default', '3')
    clock.advance(30_000)
    expect(await claimOne(store)).toMatchObject({ digest: { events: events('2', '4') }, attempts: 2 })
    expect(await statuses()).toEqual(['cancelled', 'sending', 'cancelled'])
  })

  it('cancels one that is sending, rendered or not, once it would be queued again and nobody wants it', async () => {
    for (const content of [undefined, { text: 'rendered' }]) {
      const { store, claimed, statuses } = await sendingOf('1', '2')
      for (const id of ['1', '2']) expect(await store.cancel('default', id)).toMatchObject({ changed: [] })
      await store.settle({ ...lease(claimed), to: 'queued', delayMs: 0, ...(content && { content }) })
      expect(await statuses()).toEqual(['cancelled', 'cancelled'])
      expect(await claim(store)).toEqual({ deliveries: [], expired: [] })
    }
  })

  it.each(['1', '2'])('is forgotten when dispatch %s has it tried again', async (id) => {
    for (const content of [undefined, { text: 'rendered' }]) {
      const { store, claimed, rendered, statuses } = await sendingOf('1', '2')
      if (content) await rendered()
      const again = content ? await claimOne(store) : claimed
      await store.cancel('default', '1')
      await store.settle({ ...lease(again), to: 'failed', reason: 'provider_rejected' })
      expect(await store.retry('default', id, { expiresInMs: 1_000 })).toMatchObject({
        changed: [{ status: 'queued' }],
      })
      expect(await statuses()).toEqual(['queued', 'queued'])
      await store.settle({ ...lease(await claimOne(store)), to: 'queued', delayMs: 0 })
      expect(await statuses()).toEqual(['queued', 'queued'])
    }
  })
})
