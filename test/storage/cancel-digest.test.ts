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

/** A digest of these events, in flight. */
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

describe('cancel of a dispatch with a digest', () => {
  it('An event that left a digest keeps the attempts until then', async () => {
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

  it('An event that left a full digest makes room before digests that were opened later', async () => {
    const { store, post, idsOf } = digesting()
    for (const id of ['1', '2', '3']) await post(id, { max: 2 })
    await store.cancel('default', '1')
    await post('4', { max: 2 })
    await post('5', { max: 2 })
    expect(await idsOf('4', '5')).toEqual(['1-a', '3-a'])
  })

  it('Events leave and join a digest between attempts', async () => {
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

  it('A digest whose dispatches are all cancelled while it is sent is cancelled, rendered or not', async () => {
    for (const content of [undefined, { text: 'rendered' }]) {
      const { store, claimed, statuses } = await sendingOf('1', '2')
      for (const id of ['1', '2']) expect(await store.cancel('default', id)).toMatchObject({ changed: [] })
      await store.settle({ ...lease(claimed), to: 'queued', delayMs: 0, ...(content && { content }) })
      expect(await statuses()).toEqual(['cancelled', 'cancelled'])
      expect(await claim(store)).toEqual({ deliveries: [], expired: [] })
    }
  })

  it.each(['1', '2'])('A retry by dispatch %s revokes an earlier cancel of its digest', async (id) => {
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
