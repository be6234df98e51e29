import { describe, expect, it } from 'vitest'
import { documentStore } from '../../../src/storage/documents/index.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { acceptance, claim, claimOne, deliveriesOf, delivery, ids, lease } from '../storing.ts'
import { mapDocuments } from './map-documents.ts'

function storing() {
  const clock = fakeClock()
  const texts = new Map<string, string>()
  return { clock, texts, store: documentStore(mapDocuments(clock, texts)) }
}

describe('claim over documents', () => {
  it('claim gives the due deliveries of all channels, the longest due first', async () => {
    const { clock, store } = storing()
    for (const [id, channel] of [
      ['1', 'b'],
      ['2', 'a'],
      ['3', 'b'],
      ['4', 'a'],
    ] as const) {
      await store.accept(acceptance(id, { deliveries: [delivery(`${id}-${channel}`, { channel })] }))
      clock.advance(1)
    }
    const claims = await claim(store, { a: 10, b: 10 }, 5_000)
    expect(ids(claims.deliveries)).toEqual(['1-b', '2-a', '3-b', '4-a'])
    expect(claims).toMatchObject({ expired: [], nextDueInMs: 5_000 })
    expect(claims.deliveries.every((one) => !('reclaimed' in one))).toBe(true)
  })

  it('claim says when the next delivery is due, and nothing when there is none', async () => {
    const { clock, store } = storing()
    expect(await claim(store)).toEqual({ deliveries: [], expired: [] })
    await store.accept(acceptance('1', { deliveries: [delivery('x', { delayMs: 700, deferred: true })] }))
    expect(await claim(store)).toEqual({ deliveries: [], expired: [], nextDueInMs: 700 })
    clock.advance(700)
    expect(await claim(store, { a: 0 })).toEqual({ deliveries: [], expired: [], nextDueInMs: 0 })
  })

  it('A delivery whose lease expired is claimed again as reclaimed', async () => {
    const { clock, store } = storing()
    await store.accept(acceptance('1', { deliveries: [delivery('x')] }))
    const first = await claimOne(store, 'a', 1_000)
    clock.advance(1_000)
    const second = await claimOne(store, 'a', 1_000)
    expect(first).not.toHaveProperty('reclaimed')
    expect(second).toMatchObject({ deliveryId: 'x', reclaimed: true, attempts: 2 })
    expect(await store.renew(lease(first), 1_000)).toBe(false)
  })

  it('A delivery whose lease expired after its cancellation is cancelled and not claimed', async () => {
    const { clock, store } = storing()
    await store.accept(acceptance('1', { deliveries: [delivery('x')] }))
    await claimOne(store, 'a', 1_000)
    await store.cancel('default', '1')
    expect(await deliveriesOf(store, '1')).toMatchObject([{ status: 'sending' }])
    clock.advance(1_000)
    expect((await claim(store)).deliveries).toEqual([])
    expect(await deliveriesOf(store, '1')).toMatchObject([{ status: 'cancelled' }])
  })

  it('A delivery expires at exactly the end of its life, and once', async () => {
    const { clock, store } = storing()
    await store.accept(
      acceptance('1', { deliveries: [delivery('x'), delivery('y', { delayMs: 5 })] }, { expiresInMs: 100 }),
    )
    clock.advance(100)
    const claims = await claim(store)
    expect(claims.expired).toMatchObject([{ deliveryId: 'x', status: 'expired' }])
    expect(ids(claims.deliveries)).toEqual(['y'])
    expect((await claim(store)).expired).toEqual([])
  })

  it('A claim ignores list entries whose delivery was changed meanwhile', async () => {
    const { clock, texts, store } = storing()
    await store.accept(acceptance('1', { deliveries: [delivery('x')] }, { expiresInMs: 1_000 }))
    const before = new Map(texts)
    await store.settle({ ...lease(await claimOne(store)), to: 'sent', attempt: { outcome: 'sent' } })
    for (const [key, text] of before) if (key.startsWith('jobs.') && !texts.has(key)) texts.set(key, text)
    expect((await claim(store)).deliveries).toEqual([])
    clock.advance(1_000)
    expect((await claim(store)).expired).toEqual([])
    expect(await deliveriesOf(store, '1')).toMatchObject([{ status: 'sent' }])
  })

  it('A claim does not read the backlog of a tenant at its share', async () => {
    const clock = fakeClock()
    const documents = mapDocuments(clock)
    let read = 0
    const counting = {
      ...documents,
      async list(...args: Parameters<typeof documents.list>) {
        const found = await documents.list(...args)
        read += found.length
        return found
      },
    }
    const store = documentStore(counting)
    for (let at = 0; at < 300; at++) await store.accept(acceptance(`x${at}`))
    const other = acceptance('y')
    await store.accept({ ...other, dispatch: { ...other.dispatch, tenant: 'other' } })
    // The first claim looks through all jobs for expired ones.
    await store.claim({ limits: { a: 0 }, leaseMs: 1_000, busy: [] })
    read = 0
    const full = [{ channel: 'a', tenant: 'default' }]
    const { deliveries } = await store.claim({ limits: { a: 5 }, leaseMs: 1_000, busy: [], full })
    expect(deliveries.map(({ dispatch }) => dispatch.tenant)).toEqual(['other'])
    expect(read).toBeLessThan(50)
  })
})
