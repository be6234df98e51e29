import { describe, expect, it } from 'vitest'
import { isSallyportError } from '../../../src/errors.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { acceptance, claimOne, delivery, lease, storeOn } from '../storing.ts'

describe('lists of dispatches', () => {
  const FILTERS = [
    {},
    { recipient: 'r' },
    { eventType: 'e' },
    { status: 'queued' },
    { sessionId: 's' },
    { eventType: 'e', status: 'queued' },
  ] as const

  it.each(FILTERS)('A removed dispatch is in no list: %j', async (filter) => {
    const { store, clock } = storeOn()
    const of = { recipient: 'r', sessionId: 's', eventType: 'e' }
    await store.accept(acceptance('d1', { ...of, deliveries: [delivery('x')] }))
    const claimed = await claimOne(store)
    await store.settle({ ...lease(claimed), to: 'sent' })
    clock.advance(10)
    await store.accept(acceptance('d2', { ...of, deliveries: [delivery('y')] }))
    expect(await store.removeDispatches({ acceptedForMs: 5, limit: 9 })).toBe(1)
    await store.accept(acceptance('d3', { ...of, deliveries: [delivery('z')] }))
    const { items } = await store.listDispatches({ tenant: 'default', limit: 9, first: 'oldest', ...filter })
    expect(items.map(({ dispatchId }) => dispatchId)).toEqual(['d2', 'd3'])
    const sent = await store.listDispatches({ tenant: 'default', limit: 9, status: 'sent' })
    expect(sent.items).toEqual([])
  })

  it('removeDispatches of a tenant without dispatches removes nothing', async () => {
    const { store, clock } = storeOn()
    await store.accept(acceptance('d1', { deliveries: [] }))
    clock.advance(10)
    expect(await store.removeDispatches({ tenant: 'none', acceptedForMs: 5, limit: 9 })).toBe(0)
  })

  it('A dispatch is removed once it is older than acceptedForMs, not at that age', async () => {
    const { store, clock } = storeOn()
    await store.accept(acceptance('d1', { deliveries: [] }))
    clock.advance(5)
    expect(await store.removeDispatches({ acceptedForMs: 5, limit: 9 })).toBe(0)
    clock.advance(1)
    expect(await store.removeDispatches({ acceptedForMs: 5, limit: 9 })).toBe(1)
  })
})

describe('memoryStore', () => {
  it('memoryStore() uses the system clock by default', async () => {
    const store = memoryStore()
    const before = Date.now()
    await store.accept(acceptance('d1'))
    const { items } = await store.listDispatches({ tenant: 'default', limit: 1 })
    expect(items[0]?.createdAt).toBeGreaterThanOrEqual(before)
    expect(items[0]?.createdAt).toBeLessThanOrEqual(Date.now())
  })

  it('memoryStore() refuses a clock without now, by name', () => {
    try {
      memoryStore({ clock: {} } as never)
      expect.unreachable()
    } catch (error) {
      expect(isSallyportError(error) && [error.code, error.message]).toEqual([
        'option_invalid',
        expect.stringMatching(/^memoryStore:\s+- field "clock": has no now/),
      ])
    }
  })
})
