import { describe, expect, it } from 'vitest'
import type { NewDelivery } from '../../src/ports/dispatch-store.ts'
import {
  acceptance,
  answerOf,
  claim,
  deliveriesOf,
  delivery,
  digested,
  HOUR,
  keyed,
  spoil,
  storeOn,
} from './storing.ts'

const byId = (one: { deliveryId: string }, other: { deliveryId: string }) =>
  one.deliveryId < other.deliveryId ? -1 : 1

describe('accepting', () => {
  it('answers from the dispatch as it was stored', async () => {
    const { clock, store } = storeOn()
    const accepted = await store.accept(acceptance('1', { sessionId: 's1' }, { answer: answerOf }))
    const stored = await store.findDispatch('default', '1')
    expect(stored).toEqual({
      dispatchId: '1',
      tenant: 'default',
      eventType: 'e',
      recipient: 'jane@example.com',
      route: 'all',
      createdAt: clock.now(),
      sessionId: 's1',
      deliveries: [
        {
          deliveryId: '1-a',
          channel: 'a',
          status: 'queued',
          attempts: 0,
          attemptLog: [],
          dueAt: clock.now(),
          address: 'jane@example.com',
          content: { text: 'x' },
        },
      ],
    })
    expect(accepted).toEqual({ outcome: 'accepted', answer: stored && answerOf(stored) })
  })

  it('keeps everything that is said of a delivery', async () => {
    const { store } = storeOn()
    const rest = { deferred: true, concurrencyKey: 'c', trace: [{ rule: '==', result: true }] } as const
    const skipped = { deliveryId: 'y', channel: 'b', status: 'skipped', reason: 'no_address' } as const
    await store.accept(acceptance('1', { deliveries: [delivery('x', rest), skipped] }))
    expect(await deliveriesOf(store, '1')).toMatchObject([rest, { ...skipped, attempts: 0, attemptLog: [] }])
  })

  it('lets a delivery wait, by its own clock', async () => {
    const { clock, store } = storeOn()
    await store.accept(acceptance('1', { deliveries: [delivery('x', { delayMs: 500 })] }))
    expect(await deliveriesOf(store, '1')).toMatchObject([{ status: 'queued', dueAt: clock.now() + 500 }])
    expect(await claim(store)).toEqual({ deliveries: [], expired: [], nextDueInMs: 500 })
    clock.advance(500)
    expect((await claim(store)).deliveries).toMatchObject([{ deliveryId: 'x' }])
  })

  it('changes nothing when what it is given cannot be copied', async () => {
    const { store } = storeOn()
    const endless: Record<string, string> = {}
    Reflect.set(endless, 'self', endless)
    const deliveries = [delivery('x'), delivery('y', { content: endless })]
    await expect(store.accept({ ...keyed('1'), ...acceptance('1', { deliveries }) })).rejects.toThrow(RangeError)
    expect(await store.findDispatch('default', '1')).toBeUndefined()
    expect(await claim(store)).toEqual({ deliveries: [], expired: [] })
  })
})

describe('an idempotency key', () => {
  const answer = async (id: string) => {
    const { store } = storeOn()
    const accepted = await store.accept(keyed(id))
    return accepted.outcome === 'accepted' ? accepted.answer : undefined
  }

  it('is accepted once, then replayed, then refused to another body', async () => {
    const { store } = storeOn()
    expect(await store.recall('default', 'k')).toBeUndefined()
    expect(await store.accept(keyed('1'))).toEqual({ outcome: 'accepted', answer: await answer('1') })
    expect(await store.accept(keyed('2'))).toEqual({ outcome: 'replayed', answer: await answer('1') })
    expect(await store.accept(keyed('3', 'k', 'other'))).toEqual({ outcome: 'key_reused' })
    expect(await store.recall('default', 'k')).toEqual({ fingerprint: 'f', answer: await answer('1') })
    expect(await store.findDispatch('default', '2')).toBeUndefined()
    expect(await store.findDispatch('default', '3')).toBeUndefined()
  })

  it('is accepted for one of any number of concurrent calls', async () => {
    const { store } = storeOn()
    const outcomes = await Promise.all(Array.from({ length: 1_000 }, (_, at) => store.accept(keyed(`${at}`))))
    expect(outcomes.filter(({ outcome }) => outcome === 'accepted')).toHaveLength(1)
    expect((await claim(store)).deliveries).toHaveLength(1)
  })

  it('is forgotten at its own time, whatever was remembered before it for longer', async () => {
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

  it('belongs to a tenant', async () => {
    const { store } = storeOn()
    await store.accept(keyed('1'))
    expect(await store.recall('other', 'k')).toBeUndefined()
    const { idempotency } = keyed('2')
    const other = acceptance('2', { tenant: 'other' }, idempotency && { idempotency })
    expect(await store.accept(other)).toMatchObject({ outcome: 'accepted' })
  })
})

describe('what is stored', () => {
  const deliveries = (): NewDelivery[] => [
    delivery('x', { content: { data: { list: [{ a: 1 }] } }, limits: [{ key: 'l', max: 1, windowMs: HOUR }] }),
    delivery('y', { status: 'skipped', trace: [{ rule: '==', expected: ['a'], result: false }] }),
    delivery('z', { status: 'held', limits: [{ key: 'm', max: 1, windowMs: HOUR }] }),
    digested('d', { recipient: { id: 'jane', attributes: { tags: ['a'] } }, eventData: { list: [1] } }, { delayMs: 1 }),
  ]
  const rich = () => ({ ...acceptance('1', { deliveries: deliveries() }), idempotency: keyed('1').idempotency })
  const given = () => {
    const { idempotency, ...rest } = rich()
    return { ...rest, ...(idempotency && { idempotency }) }
  }

  it('belongs to a tenant', async () => {
    const { store } = storeOn()
    await store.accept(acceptance('1'))
    await store.accept(acceptance('2', { tenant: 'other', sessionId: 's1' }))
    expect(await store.findDispatch('default', '1')).toMatchObject({ dispatchId: '1' })
    expect(await store.findDispatch('other', '1')).toBeUndefined()
    expect(await store.findDispatch('default', 'nothing')).toBeUndefined()
    expect(await store.cancel('other', '1')).toBeUndefined()
    expect(await store.retry('other', '1', { expiresInMs: HOUR })).toBeUndefined()
  })

  it('is not changed by changing what was given', async () => {
    const { clock, store } = storeOn()
    const first = given()
    await store.accept(first)
    const before = await store.findDispatch('default', '1')
    spoil(first)
    expect(await store.findDispatch('default', '1')).toEqual(before)
    clock.advance(1)
    expect((await claim(store)).deliveries).toMatchObject([
      { deliveryId: 'x', content: { data: { list: [{ a: 1 }] } } },
      {
        deliveryId: 'd',
        digest: { recipient: { attributes: { tags: ['a'] } }, events: [{ eventData: { list: [1] } }] },
      },
    ])
  })

  it('is not changed by changing the settlement, after it is taken', async () => {
    const { clock, store } = storeOn()
    await store.accept(acceptance('1', { deliveries: [digested('d', {}, { delayMs: 0 })] }))
    const [claimed] = (await claim(store)).deliveries
    const content = { data: { list: [1] } }
    await store.settle({ deliveryId: 'd', fence: claimed?.fence ?? '', to: 'queued', delayMs: 0, content })
    spoil(content)
    expect(await deliveriesOf(store, '1')).toMatchObject([{ content: { data: { list: [1] } }, dueAt: clock.now() }])
  })

  it('is not changed by changing what was returned', async () => {
    const { clock, store } = storeOn()
    const accepted = await store.accept(given())
    const replayed = { outcome: 'replayed', answer: structuredClone('answer' in accepted && accepted.answer) }
    const before = structuredClone(await store.findDispatch('default', '1'))
    spoil(accepted)
    spoil(await store.findDispatch('default', '1'))
    spoil(await store.listDispatches({ tenant: 'default', limit: 5 }))
    spoil(await store.accept(keyed('2')))
    spoil(await store.recall('default', 'k'))
    expect(await store.findDispatch('default', '1')).toEqual(before)
    expect(await store.accept(keyed('2'))).toEqual(replayed)

    clock.advance(1)
    const first = await claim(store)
    const claimed = structuredClone([...first.deliveries]).sort(byId)
    spoil(first)
    clock.advance(30_000)
    const again = await claim(store)
    expect([...again.deliveries].sort(byId)).toMatchObject(
      claimed.map(({ deliveryId, address, content, digest, dispatch }) => {
        return { deliveryId, address, dispatch, ...(content && { content }), ...(digest && { digest }) }
      }),
    )
    const history = [{ attempt: 1, startedAt: clock.now() - 30_000 }]
    expect(again.deliveries).toMatchObject([{ history }, { history }])
    spoil(again)
    expect(await deliveriesOf(store, '1')).toMatchObject([{ attemptLog: [...history, { attempt: 2 }] }, {}, {}, {}])

    spoil(await store.cancel('default', '1'))
    spoil(await store.retry('default', '1', { expiresInMs: HOUR }))
    clock.advance(72 * HOUR)
    spoil(await claim(store))
    const after = await store.findDispatch('default', '1')
    expect(after?.deliveries.map(({ status }) => status)).toEqual(['expired', 'skipped', 'cancelled', 'expired'])
    expect(after?.deliveries[1]?.trace).toEqual([{ rule: '==', expected: ['a'], result: false }])
  })

  it('may have any names', async () => {
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
