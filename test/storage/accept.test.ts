import { describe, expect, it } from 'vitest'
import { acceptance, claim, deliveriesOf, delivery, keyed, storeOn } from './storing.ts'

describe('accept', () => {
  it('A delayed delivery is due at exactly its due time', async () => {
    const { clock, store } = storeOn()
    await store.accept(acceptance('1', { deliveries: [delivery('x', { delayMs: 500 })] }))
    expect(await deliveriesOf(store, '1')).toMatchObject([{ status: 'queued', dueAt: clock.now() + 500 }])
    expect(await claim(store)).toEqual({ deliveries: [], expired: [], nextDueInMs: 500 })
    clock.advance(500)
    expect((await claim(store)).deliveries).toMatchObject([{ deliveryId: 'x' }])
  })

  it('accept throws for content that cannot be copied, and stores nothing', async () => {
    const { store } = storeOn()
    const endless: Record<string, string> = {}
    Reflect.set(endless, 'self', endless)
    const deliveries = [delivery('x'), delivery('y', { content: endless })]
    await expect(store.accept({ ...keyed('1'), ...acceptance('1', { deliveries }) })).rejects.toThrow(RangeError)
    expect(await store.findDispatch('default', '1')).toBeUndefined()
    expect(await claim(store)).toEqual({ deliveries: [], expired: [] })
  })
})

describe('idempotency keys', () => {
  it('Exactly one of a thousand concurrent posts with one key is accepted', async () => {
    const { store } = storeOn()
    const outcomes = await Promise.all(Array.from({ length: 1_000 }, (_, at) => store.accept(keyed(`${at}`))))
    expect(outcomes.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(1)
    expect((await claim(store)).deliveries).toHaveLength(1)
  })

  it('An idempotency key expires at exactly its own time, even after a longer one', async () => {
    const { clock, store } = storeOn()
    await store.accept(keyed('1', 'long', 'f', 10_000))
    await store.accept(keyed('2', 'short', 'f', 1_000))
    clock.advance(999)
    expect(await store.recall('default', 'short')).toBeDefined()
    clock.advance(1)
    expect(await store.recall('default', 'short')).toBeUndefined()
    expect(await store.accept(keyed('3', 'short', 'other'))).toMatchObject({ outcome: 'accepted' })
    expect(await store.accept(keyed('4', 'long'))).toMatchObject({ outcome: 'replayed' })
  })
})

describe('stored dispatches', () => {
  it('A dispatch, a tenant and a content member can be named __proto__', async () => {
    const { store } = storeOn()
    const content = JSON.parse('{"__proto__":{"a":{"b":1}},"constructor":"c"}')
    await store.accept(
      acceptance('__proto__', { tenant: '__proto__', deliveries: [delivery('constructor', { content })] }),
    )
    const [stored] = (await store.findDispatch('__proto__', '__proto__'))?.deliveries ?? []
    expect(JSON.stringify(stored?.content)).toBe(JSON.stringify(content))
    expect((await claim(store)).deliveries).toHaveLength(1)
  })
})
