import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Delivery, Dispatch, DispatchAnswer } from '../../src/model/dispatch.ts'
import type { Acceptance, ClaimedDelivery, DispatchStore } from '../../src/ports/dispatch-store.ts'
import { memoryDispatches } from '../../src/storage/memory-dispatches.ts'
import { type FakeClock, fakeClock } from '../support/fake-clock.ts'

const HOUR = 3_600_000

function storeOn(clock: FakeClock = fakeClock()): { clock: FakeClock; store: DispatchStore } {
  return { clock, store: memoryDispatches(clock) }
}

function delivery(deliveryId: string, rest: Partial<Delivery> = {}): Delivery {
  return {
    deliveryId,
    channel: 'a',
    status: 'queued',
    attempts: 0,
    address: 'jane@example.com',
    content: { text: 'x' },
    ...rest,
  }
}

function acceptance(id: string, rest: Partial<Dispatch> = {}, more: Partial<Acceptance> = {}): Acceptance {
  const dispatch: Dispatch = {
    dispatchId: id,
    tenant: 'default',
    eventType: 'e',
    recipient: 'jane@example.com',
    route: 'all',
    createdAt: 0,
    deliveries: [delivery(`${id}-a`)],
    ...rest,
  }
  return { dispatch, expiresInMs: 72 * HOUR, ...more }
}

function answerFor(dispatchId: string): DispatchAnswer {
  return {
    dispatchId,
    status: 'queued',
    eventType: 'e',
    recipient: 'jane@example.com',
    createdAt: '2026-11-21T08:00:00.000Z',
    deliveries: [],
    duplicate: false,
    warnings: [],
  }
}

const keyed = (id: string, key = 'k', fingerprint = 'f', ttlMs = HOUR): Acceptance =>
  acceptance(id, {}, { idempotency: { key, fingerprint, ttlMs, answer: answerFor(id) } })

const claimAll = (store: DispatchStore, limit = 100, channels = ['a'], leaseMs = 30_000) =>
  store.claim({ limit, leaseMs, channels })

const ids = (claimed: readonly ClaimedDelivery[]) => claimed.map(({ deliveryId }) => deliveryId)

/** Changes everything in a value that can be changed. */
function spoil(value: unknown): void {
  if (typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    spoil(member)
    Reflect.set(value, key, 'spoilt')
  }
  Reflect.set(value, 'added', 'spoilt')
}

describe('claiming', () => {
  it('hands out the oldest due first, over all the channels asked for', async () => {
    const { clock, store } = storeOn()
    for (const [id, channel] of [
      ['1', 'b'],
      ['2', 'a'],
      ['3', 'c'],
      ['4', 'b'],
    ] as const) {
      await store.accept(acceptance(id, { deliveries: [delivery(id, { channel })] }))
      clock.advance(1)
    }
    expect(ids((await claimAll(store, 2, ['a', 'b', 'c'])).deliveries)).toEqual(['1', '2'])
    expect(ids((await claimAll(store, 2, ['a', 'b', 'c'])).deliveries)).toEqual(['3', '4'])
  })

  it('takes a lease that has ended in the order of its end, among what is queued', async () => {
    const { clock, store } = storeOn()
    await store.accept(acceptance('1'))
    await claimAll(store, 1, ['a'], 100)
    clock.advance(50)
    await store.accept(acceptance('2'))
    clock.advance(100)
    await store.accept(acceptance('3'))
    expect(ids((await claimAll(store)).deliveries)).toEqual(['2-a', '1-a', '3-a'])
  })

  it('leaves the other channels alone', async () => {
    const { store } = storeOn()
    await store.accept(acceptance('1', { deliveries: [delivery('x'), delivery('y', { channel: 'b' })] }))
    expect(ids((await claimAll(store, 10, ['b'])).deliveries)).toEqual(['y'])
    expect(await claimAll(store, 10, ['b'])).toEqual({ deliveries: [], nextDueInMs: 30_000 })
    expect(await claimAll(store, 10, [])).toEqual({ deliveries: [] })
    expect(await claimAll(store, 10, ['never'])).toEqual({ deliveries: [] })
  })

  it('says when the next is due: now, later, or not at all', async () => {
    const { clock, store } = storeOn()
    expect(await claimAll(store)).toEqual({ deliveries: [] })
    await store.accept(acceptance('1'))
    await store.accept(acceptance('2'))
    expect(await claimAll(store, 1)).toMatchObject({ deliveries: [{}], nextDueInMs: 0 })
    clock.advance(10)
    expect(await claimAll(store, 1)).toMatchObject({ deliveries: [{}], nextDueInMs: 29_990 })
  })

  it('gives everything that an attempt needs, and nothing else', async () => {
    const { store } = storeOn()
    await store.accept(acceptance('1', { sessionId: 's1', locale: 'de' }))
    expect((await claimAll(store)).deliveries).toEqual([
      {
        deliveryId: '1-a',
        channel: 'a',
        address: 'jane@example.com',
        content: { text: 'x' },
        attempts: 1,
        fence: expect.any(String),
        dispatch: {
          dispatchId: '1',
          tenant: 'default',
          eventType: 'e',
          recipient: 'jane@example.com',
          route: 'all',
          createdAt: 0,
          sessionId: 's1',
          locale: 'de',
        },
      },
    ])
  })

  it('hands each delivery to one of any number of concurrent callers', async () => {
    const { store } = storeOn()
    for (let at = 0; at < 200; at++) await store.accept(acceptance(`${at}`))
    const claims = await Promise.all(Array.from({ length: 50 }, () => claimAll(store, 7)))
    const claimed = claims.flatMap(({ deliveries }) => ids(deliveries))
    expect([claimed.length, new Set(claimed).size]).toEqual([200, 200])
    expect(new Set(claims.flatMap(({ deliveries }) => deliveries.map(({ fence }) => fence))).size).toBe(200)
  })

  it('hands out nothing that is held, skipped or failed', async () => {
    const { store } = storeOn()
    const deliveries = (['held', 'skipped', 'failed'] as const).map((status) => delivery(status, { status }))
    await store.accept(acceptance('1', { deliveries }))
    expect(await claimAll(store)).toEqual({ deliveries: [] })
  })
})

describe('settling', () => {
  async function leased() {
    const { clock, store } = storeOn()
    await store.accept(acceptance('1'))
    const [claimed] = (await claimAll(store, 1, ['a'], 1_000)).deliveries
    if (!claimed) throw new Error('nothing is due')
    return { clock, store, claimed, lease: { deliveryId: claimed.deliveryId, fence: claimed.fence } }
  }

  it('is accepted once', async () => {
    const { store, lease } = await leased()
    expect(await store.settle({ ...lease, to: 'sent', held: 'keep' })).toBe(true)
    expect(await store.settle({ ...lease, to: 'sent', held: 'keep' })).toBe(false)
    expect(await store.settle({ ...lease, to: 'queued', delayMs: 1, code: 'x' })).toBe(false)
    expect(await store.findDispatch('default', '1')).toMatchObject({ deliveries: [{ status: 'sent', attempts: 1 }] })
  })

  it('is refused, and changes nothing, for a delivery or fence that is not there', async () => {
    const { store, lease } = await leased()
    const before = await store.findDispatch('default', '1')
    for (const wrong of [{ deliveryId: 'nothing' }, { fence: 'nothing' }, { fence: '' }]) {
      expect(await store.settle({ ...lease, ...wrong, to: 'sent', held: 'keep' })).toBe(false)
    }
    expect(await store.findDispatch('default', '1')).toEqual(before)
  })

  it('is accepted after the end of the lease, as long as nobody else has it', async () => {
    const { clock, store, lease } = await leased()
    clock.advance(5_000)
    expect(await store.settle({ ...lease, to: 'sent', held: 'keep' })).toBe(true)
  })

  it('is refused to a zombie, whatever it wants, and changes nothing', async () => {
    const { clock, store, lease } = await leased()
    clock.advance(1_000)
    await claimAll(store)
    const before = await store.findDispatch('default', '1')
    expect(await store.settle({ ...lease, to: 'sent', held: 'skip' })).toBe(false)
    expect(await store.settle({ ...lease, to: 'queued', delayMs: 0, code: 'x' })).toBe(false)
    const failed = { to: 'failed', reason: 'provider_rejected', code: 'x', held: 'promote' } as const
    expect(await store.settle({ ...lease, ...failed })).toBe(false)
    expect(await store.findDispatch('default', '1')).toEqual(before)
  })

  it('lets the fence of an attempt before prove nothing once it is queued again', async () => {
    const { clock, store, lease } = await leased()
    await store.settle({ ...lease, to: 'queued', delayMs: 500, code: 'busy' })
    expect(await store.settle({ ...lease, to: 'sent', held: 'keep' })).toBe(false)
    clock.advance(500)
    await claimAll(store)
    expect(await store.settle({ ...lease, to: 'sent', held: 'keep' })).toBe(false)
  })

  it('queues again by its own clock', async () => {
    const { clock, store, lease } = await leased()
    clock.advance(100)
    await store.settle({ ...lease, to: 'queued', delayMs: 500, code: 'busy' })
    expect(await store.findDispatch('default', '1')).toMatchObject({
      deliveries: [{ status: 'queued', dueAt: clock.now() + 500, lastCode: 'busy', attempts: 1 }],
    })
    expect(await claimAll(store)).toEqual({ deliveries: [], nextDueInMs: 500 })
    clock.advance(499)
    expect((await claimAll(store)).deliveries).toEqual([])
    clock.advance(1)
    expect((await claimAll(store)).deliveries).toMatchObject([{ deliveryId: '1-a', attempts: 2 }])
  })
})

describe('an idempotency key', () => {
  it('is accepted once, then replayed, then refused to another body', async () => {
    const { store } = storeOn()
    expect(await store.accept(keyed('1'))).toEqual({ outcome: 'accepted' })
    expect(await store.accept(keyed('2'))).toEqual({ outcome: 'replayed', answer: answerFor('1') })
    expect(await store.accept(keyed('3', 'k', 'other'))).toEqual({ outcome: 'key_reused' })
    expect(await store.findDispatch('default', '2')).toBeUndefined()
    expect(await store.findDispatch('default', '3')).toBeUndefined()
  })

  it('is forgotten at its own time, whatever was remembered before it for longer', async () => {
    const { clock, store } = storeOn()
    await store.accept(keyed('1', 'long', 'f', 10_000))
    await store.accept(keyed('2', 'short', 'f', 1_000))
    clock.advance(1_000)
    expect(await store.accept(keyed('3', 'short', 'other'))).toEqual({ outcome: 'accepted' })
    expect(await store.accept(keyed('4', 'long'))).toMatchObject({ outcome: 'replayed' })
  })

  it('belongs to a tenant', async () => {
    const { store } = storeOn()
    const other = acceptance(
      '2',
      { tenant: 'other' },
      { ...keyed('2'), dispatch: acceptance('2', { tenant: 'other' }).dispatch },
    )
    await store.accept(keyed('1'))
    expect(await store.accept(other)).toEqual({ outcome: 'accepted' })
  })
})

describe('what is stored', () => {
  it('belongs to a tenant', async () => {
    const { store } = storeOn()
    await store.accept(acceptance('1'))
    await store.accept(acceptance('2', { tenant: 'other', sessionId: 's1' }))
    expect(await store.findDispatch('default', '1')).toMatchObject({ dispatchId: '1' })
    expect(await store.findDispatch('other', '1')).toBeUndefined()
    expect(await store.findDispatch('default', 'nothing')).toBeUndefined()
    expect((await store.listDispatches({ tenant: 'default', limit: 9 })).items).toHaveLength(1)
    expect((await store.listDispatches({ tenant: 'default', sessionId: 's1', limit: 9 })).items).toEqual([])
    expect((await store.listDispatches({ tenant: 'other', sessionId: 's1', limit: 9 })).items).toHaveLength(1)
    expect(await store.listDispatches({ tenant: 'nobody', limit: 9 })).toEqual({ items: [] })
  })

  const rich = () =>
    acceptance('1', {
      deliveries: [
        delivery('x', { content: { data: { list: [{ a: 1 }] } } }),
        delivery('y', { status: 'skipped', trace: [{ rule: '==', expected: ['a'], result: false }] }),
      ],
    })

  it('is not changed by changing what was given', async () => {
    const { store } = storeOn()
    const given = { ...rich(), idempotency: { key: 'k', fingerprint: 'f', ttlMs: HOUR, answer: answerFor('1') } }
    const expected = structuredClone(given)
    await store.accept(given)
    const before = await store.findDispatch('default', '1')
    spoil(given)
    expect(await store.findDispatch('default', '1')).toEqual(before)
    expect((await claimAll(store)).deliveries).toMatchObject([{ content: { data: { list: [{ a: 1 }] } } }])
    expect(await store.accept(expected)).toEqual({ outcome: 'replayed', answer: answerFor('1') })
  })

  it('is not changed by changing what was returned', async () => {
    const { clock, store } = storeOn()
    await store.accept({ ...rich(), idempotency: { key: 'k', fingerprint: 'f', ttlMs: HOUR, answer: answerFor('1') } })
    const before = structuredClone(await store.findDispatch('default', '1'))
    spoil(await store.findDispatch('default', '1'))
    spoil(await store.listDispatches({ tenant: 'default', limit: 5 }))
    spoil(await store.accept(keyed('2')))
    expect(await store.findDispatch('default', '1')).toEqual(before)
    expect(await store.accept(keyed('2'))).toEqual({ outcome: 'replayed', answer: answerFor('1') })
    spoil((await claimAll(store)).deliveries)
    clock.advance(30_000)
    expect((await claimAll(store)).deliveries).toMatchObject([
      {
        deliveryId: 'x',
        address: 'jane@example.com',
        content: { data: { list: [{ a: 1 }] } },
        dispatch: { tenant: 'default' },
      },
    ])
  })
})

describe('listing', () => {
  it('gives pages, newest first, that stay right while dispatches are added', async () => {
    const { store } = storeOn()
    const add = (from: number, to: number) =>
      Promise.all(Array.from({ length: to - from }, (_, at) => store.accept(acceptance(`${from + at}`))))
    await add(0, 10)
    const seen: string[] = []
    let cursor: string | undefined
    for (let page = 0; ; page++) {
      const found = await store.listDispatches({ tenant: 'default', limit: 3, ...(cursor !== undefined && { cursor }) })
      seen.push(...found.items.map(({ dispatchId }) => dispatchId))
      await add(10 + page * 5, 15 + page * 5)
      cursor = found.nextCursor
      if (cursor === undefined) break
    }
    expect(seen).toEqual(['9', '8', '7', '6', '5', '4', '3', '2', '1', '0'])
  })

  it('has no next page after the last, even a full one', async () => {
    const { store } = storeOn()
    for (const id of ['1', '2']) await store.accept(acceptance(id))
    expect(await store.listDispatches({ tenant: 'default', limit: 2 })).not.toHaveProperty('nextCursor')
    expect(await store.listDispatches({ tenant: 'default', limit: 1 })).toHaveProperty('nextCursor')
  })

  it.each(['', 'x', '-1', '1.5', '999999999999999', '__proto__'])(
    'takes the cursor %j without harm',
    async (cursor) => {
      const { store } = storeOn()
      await store.accept(acceptance('1'))
      const { items } = await store.listDispatches({ tenant: 'default', limit: 5, cursor })
      expect(items.length).toBeLessThanOrEqual(1)
    },
  )
})

describe('whatever happens', () => {
  it('no two live leases are of one delivery, attempts never fall, and what has ended never changes', async () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('accept' as const) }),
      fc.record({ do: fc.constant('claim' as const), limit: fc.integer({ min: 1, max: 4 }) }),
      fc.record({
        do: fc.constant('settle' as const),
        which: fc.nat(),
        to: fc.constantFrom('sent' as const, 'queued' as const, 'failed' as const),
      }),
      fc.record({ do: fc.constant('advance' as const), ms: fc.integer({ min: 0, max: 150 }) }),
    )
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60, size: 'max' }), async (steps) => {
        const { clock, store } = storeOn()
        const leases: (ClaimedDelivery & { ends: number })[] = []
        const live = new Map<string, string>()
        const seen = new Map<string, { attempts: number; ended?: string }>()
        let count = 0
        for (const next of steps) {
          if (next.do === 'accept') {
            const id = `${count++}`
            const deliveries = [delivery(`${id}-a`), delivery(`${id}-b`, { status: 'held' })]
            await store.accept(acceptance(id, { route: 'first', deliveries }, { expiresInMs: 1_000 }))
          } else if (next.do === 'advance') clock.advance(next.ms)
          else if (next.do === 'claim') {
            for (const claimed of (await claimAll(store, next.limit, ['a'], 100)).deliveries) {
              const before = leases.findLast(({ deliveryId }) => deliveryId === claimed.deliveryId)
              if (before && live.get(claimed.deliveryId) === before.fence)
                expect(before.ends).toBeLessThanOrEqual(clock.now())
              leases.push({ ...claimed, ends: clock.now() + 100 })
              live.set(claimed.deliveryId, claimed.fence)
            }
          } else {
            const lease = leases[next.which % Math.max(leases.length, 1)]
            if (!lease) continue
            const { deliveryId, fence } = lease
            const told = {
              sent: { to: 'sent', held: 'skip' },
              queued: { to: 'queued', delayMs: 50, code: 'x' },
              failed: { to: 'failed', reason: 'provider_rejected', code: 'x', held: 'promote' },
            } as const
            const settled = await store.settle({ deliveryId, fence, ...told[next.to] })
            if (settled) {
              expect(live.get(deliveryId)).toBe(fence)
              live.delete(deliveryId)
            }
          }
          for (const { deliveries } of (await store.listDispatches({ tenant: 'default', limit: 99 })).items) {
            expect(deliveries.filter(({ status }) => status === 'sent').length).toBeLessThanOrEqual(1)
            for (const { deliveryId, status, attempts } of deliveries) {
              const before = seen.get(deliveryId)
              if (attempts < (before?.attempts ?? 0)) throw new Error(`the attempts of ${deliveryId} fell`)
              if (before?.ended !== undefined && status !== before.ended) throw new Error(`${deliveryId} was reopened`)
              const ended = ['sent', 'failed', 'skipped', 'expired'].includes(status)
              seen.set(deliveryId, { attempts, ...(ended && { ended: status }) })
            }
          }
        }
      }),
      { numRuns: 100 },
    )
  })
})
