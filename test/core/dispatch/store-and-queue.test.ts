import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import { SallyportError } from '../../../src/errors.ts'
import type { DeliveryQueue } from '../../../src/ports/delivery-queue.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { composed, took } from '../../compose/composed.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { settled } from '../delivery/attempting.ts'

const events = defineEvents({ one: { channels: { a: {} } }, late: { delayMs: 60_000, channels: { a: {} } } })
const ONE = { recipient: 'jane@example.com', eventType: 'one' } as const

describe('ready', () => {
  it('`ready` rejects with the error of a store that is not ready', async () => {
    const refused = new SallyportError('config_invalid', 'not migrated', [{ field: 'store', detail: 'run migrate()' }])
    const clock = fakeClock()
    const { sallyport } = composed(events, {
      clock,
      store: { ...memoryStore({ clock }), ready: () => Promise.reject(refused) },
    })
    await expect(sallyport.ready()).rejects.toBe(refused)
  })

  it('`ready` resolves for a store without an own check', async () => {
    await expect(composed(events).sallyport.ready()).resolves.toBeUndefined()
  })
})

describe('a call with its own store', () => {
  it('A dispatch with the option store uses that store and its idempotency keys', async () => {
    const clock = fakeClock()
    const other = memoryStore({ clock })
    const { sallyport } = composed(events, { clock })
    const { dispatchId } = took(await sallyport.dispatch(ONE, { store: other, idempotencyKey: 'k' }))
    expect(await sallyport.dispatches.get(dispatchId)).toBeUndefined()
    expect(await other.findDispatch('default', dispatchId)).toBeDefined()
    expect(took(await sallyport.dispatch(ONE, { store: other, idempotencyKey: 'k' })).duplicate).toBe(true)
    expect(took(await sallyport.dispatch(ONE, { idempotencyKey: 'k' })).duplicate).toBe(false)
  })
})

describe('an id generator that repeats itself', () => {
  it('The dispatch is answered 500 and `onError` says what to return; the stored one is unchanged', async () => {
    let next = 0
    const ids = { next: (prefix: string) => (prefix === 'dsp' ? 'dsp_1' : `${prefix}_${next++}`) }
    const faults: unknown[] = []
    const { sallyport } = composed(events, {
      ids,
      hooks: { onError: (error) => void faults.push((error as Error).message) },
    })
    const first = took(await sallyport.dispatch(ONE))
    const before = await sallyport.dispatches.get(first.dispatchId)
    expect(await sallyport.dispatch(ONE)).toMatchObject({ ok: false, status: 500, body: { code: 'internal_error' } })
    expect(faults).toEqual([
      'next() of the id generator returned the id of a stored dispatch or delivery; return a new id at each call',
    ])
    expect(await sallyport.dispatches.get(first.dispatchId)).toEqual(before)
  })
})

/** A queue that wakes no listener and records the delays. */
function silentQueue(): DeliveryQueue & { readonly wakes: number[]; readonly listeners: number } {
  const wakes: number[] = []
  let listeners = 0
  return {
    wakes,
    get listeners() {
      return listeners
    },
    wake: (delayMs) => void wakes.push(delayMs),
    listen() {
      listeners++
      return () => void listeners--
    },
  }
}

describe('a worker whose queue fails', () => {
  it('A worker whose queue cannot be listened to throws at start and can be started later', async () => {
    let isDown = true
    const thrown = new TypeError('no connection')
    const queue = silentQueue()
    const listen: DeliveryQueue['listen'] = (listener) => {
      if (isDown) throw thrown
      return queue.listen(listener)
    }
    const reported: unknown[] = []
    const hooks = { onError: (error: unknown) => void reported.push(error) }
    const { sallyport, clock, logger } = composed(events, { queue: { ...queue, listen }, staleAfterMs: 60_000, hooks })
    expect(() => sallyport.worker.start()).toThrow(thrown)
    expect([clock.timers, logger.lines, reported]).toEqual([0, [], []])
    await sallyport.dispatch(ONE)
    clock.advance(10_000)
    await settled(clock)
    expect(logger.lines.map(({ event }) => event)).toEqual(['worker.missing'])
    isDown = false
    sallyport.worker.start()
    await settled(clock)
    expect(logger.lines.map(({ event }) => event)).toContain('delivery.sent')
    await sallyport.worker.stop()
    expect(clock.timers).toBe(0)
  })
})

describe('a worker whose store is down', () => {
  it('A worker whose store is down reports each failed claim and claims again after pollMs', async () => {
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const thrown = new TypeError('down')
    let isDown = true
    const claim: typeof store.claim = (request) => (isDown ? Promise.reject(thrown) : store.claim(request))
    const reported: unknown[] = []
    const hooks = { onError: (...args: unknown[]) => void reported.push(args) }
    const worker = { pollMs: 5_000 }
    const { sallyport, logger } = composed(events, { clock, store: { ...store, claim }, hooks, worker })
    sallyport.worker.start()
    await settled(clock)
    expect(reported).toEqual([[thrown, { operation: 'store' }]])
    clock.advance(4_999)
    await settled(clock)
    expect(reported).toHaveLength(1)
    clock.advance(1)
    await settled(clock)
    expect(reported).toHaveLength(2)
    isDown = false
    await sallyport.dispatch(ONE)
    await settled(clock)
    expect(logger.lines.map(({ event }) => event)).toContain('delivery.sent')
    await sallyport.worker.stop()
  })
})

describe('a queue of the host', () => {
  it('A queue of the host is woken at once, or with the delay of a delayed delivery', async () => {
    const queue = silentQueue()
    const { sallyport } = composed(events, { queue })
    await sallyport.dispatch(ONE)
    expect(queue.wakes).toEqual([0])
    await sallyport.dispatch({ ...ONE, eventType: 'late' })
    expect(queue.wakes).toEqual([0, 0, 60_000])
  })

  it('A queue of the host is woken with the delay of a retry', async () => {
    const queue = silentQueue()
    const a = recordingChannel([{ outcome: 'retry', code: 'busy' }], { retrySchedule: [5_000] })
    const { sallyport } = composed(events, { queue, channels: { a } })
    await sallyport.dispatch(ONE)
    await sallyport.worker.runDue()
    expect(queue.wakes).toHaveLength(2)
    expect(queue.wakes[1]).toBeGreaterThanOrEqual(4_000)
    expect(queue.wakes[1]).toBeLessThanOrEqual(6_000)
  })

  it('A queue of the host has a listener only while the worker runs', async () => {
    const queue = silentQueue()
    const { sallyport } = composed(events, { queue })
    sallyport.worker.start()
    expect(queue.listeners).toBe(1)
    await sallyport.worker.stop()
    expect(queue.listeners).toBe(0)
  })

  it('A queue that throws in wake does not change the answer', async () => {
    const queue = { ...silentQueue(), wake: () => fail() }
    const { sallyport, logger } = composed(events, { queue })
    expect(took(await sallyport.dispatch(ONE)).status).toBe('queued')
    expect(logger.lines.map(({ event }) => event)).toContain('queue.wake_failed')
  })

  it('An invalid queue is refused', () => {
    const thrown = (): unknown => composed(events, { queue: { wake() {} } as never })
    expect(thrown).toThrow(/queue/)
  })
})

function fail(): never {
  throw new Error('broken on purpose')
}
