import { describe, expect, it } from 'vitest'
import { createWorker } from '../../../src/core/delivery/worker.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DispatchStore } from '../../../src/ports/dispatch-store.ts'
import { localQueue } from '../../../src/queues/local.ts'
import { queueListener } from '../../queues/listener.ts'
import type { TestDeps } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { accepted, gate, outcomes } from '../dispatch/dispatching.ts'
import { acceptMany, app, BODY, gated, pass, SENT, settled, type TestApp, totals } from './test-app.ts'

describe('a started worker', () => {
  it('A started worker sends deliveries that are due already', async () => {
    const own = app({ a: recordingChannel() })
    await acceptMany(own.deps, 25)
    own.worker.start()
    await settled(own)
    expect(await totals(own.deps)).toEqual({ sent: 25 })
  })

  it('A started worker sends an accepted delivery at once', async () => {
    const own = app({ a: recordingChannel() })
    own.worker.start()
    await settled(own)
    await accepted(own.deps, BODY)
    await settled(own)
    expect(await outcomes(own.deps)).toEqual(['a: sent 1'])
  })

  it('A started worker retries when the retry is due, and not before', async () => {
    const a = recordingChannel([{ outcome: 'retry', code: 'busy', retryAfterMs: 400 }, SENT], { retrySchedule: [0] })
    const own = app({ a })
    await accepted(own.deps, BODY)
    own.worker.start()
    await settled(own)
    await pass(own, 399, 399)
    expect(a.sent).toHaveLength(1)
    await pass(own, 1)
    expect(a.sent).toHaveLength(2)
    expect(await outcomes(own.deps)).toEqual(['a: sent 2'])
  })

  it('Deliveries in flight never exceed the concurrency, and a free slot is filled at once', async () => {
    const { channel, gates, most, open } = gated()
    const own = app({ a: channel }, { concurrency: 3 })
    await acceptMany(own.deps, 8)
    own.worker.start()
    await settled(own)
    expect(open()).toBe(3)
    for (let at = 0; at < 8; at++) {
      expect(open()).toBe(Math.min(3, 8 - at))
      gates[at]?.open(SENT)
      await settled(own)
    }
    expect(most()).toBe(3)
    expect(await totals(own.deps)).toEqual({ sent: 8 })
  })

  it('One slow message does not block the others', async () => {
    const { channel, gates } = gated()
    const slow = recordingChannel([() => new Promise(() => {})])
    const both = defineEvents({ e: { channels: { slow: {}, a: {} } } })
    const own = app({ slow, a: channel }, { concurrency: 2 }, { events: both })
    await acceptMany(own.deps, 1)
    own.worker.start()
    await settled(own)
    for (let at = 0; at < 3; at++) {
      gates[at]?.open(SENT)
      await accepted(own.deps, { ...BODY, channel: 'a' })
      await settled(own)
    }
    expect(channel.sent.length).toBeGreaterThanOrEqual(3)
  })

  it('The slot of a channel that never answers is freed after a minute, and its lease is renewed until then', async () => {
    const a = recordingChannel([() => new Promise(() => {}), async () => SENT])
    const own = app({ a }, { concurrency: 1 })
    await acceptMany(own.deps, 2)
    own.worker.start()
    await settled(own)
    await pass(own, 60_999)
    expect(a.sent).toHaveLength(1)
    await pass(own, 1)
    expect(a.sent.length).toBeGreaterThan(1)
    await pass(own, 3_000)
    expect(await totals(own.deps)).toEqual({ sent: 2 })
  })

  it('sendTimeoutMs sets the time-out of a channel', async () => {
    const a = recordingChannel([() => new Promise(() => {}), async () => SENT])
    const own = app({ a }, { concurrency: 1, sendTimeoutMs: 5_000 })
    await acceptMany(own.deps, 2)
    own.worker.start()
    await settled(own)
    await pass(own, 5_999)
    expect(a.sent).toHaveLength(1)
    await pass(own, 1)
    expect(a.sent.length).toBeGreaterThan(1)
  })

  it('A lease is half a minute, or leaseMs', async () => {
    for (const [options, leaseMs] of [
      [{}, 30_000],
      [{ leaseMs: 5_000 }, 5_000],
    ] as const) {
      const own = app({ a: recordingChannel() }, options)
      await own.worker.runDue()
      expect(own.claims).toMatchObject([{ leaseMs }])
    }
  })

  it('A worker claims once, and again when a slot is free', async () => {
    const { channel, gates } = gated()
    const own = app({ a: channel })
    await acceptMany(own.deps, 3)
    own.worker.start()
    await settled(own)
    expect(own.claims).toHaveLength(1)
    gates[0]?.open(SENT)
    await settled(own)
    expect(own.claims).toHaveLength(2)
    expect(own.claims.map(({ limits }) => limits)).toEqual([{ a: 10 }, { a: 8 }])
  })

  it('A worker polls every second when nothing wakes it', async () => {
    const own = app({ a: recordingChannel() })
    own.worker.start()
    await settled(own)
    const first = own.claims.length
    await pass(own, 999, 999)
    expect(own.claims.length).toBe(first)
    await pass(own, 1)
    expect(own.claims.length).toBe(first + 1)
    await pass(own, 10_000)
    expect(own.claims.length).toBe(first + 11)
  })

  it('A worker polls every pollMs and finds deliveries of another process', async () => {
    const own = app({ a: recordingChannel() }, { pollMs: 250 })
    own.worker.start()
    await settled(own)
    await accepted({ ...own.deps, queue: undefined } as unknown as TestDeps, BODY)
    await settled(own)
    expect(await outcomes(own.deps)).toEqual(['a: queued 0'])
    await pass(own, 250, 250)
    expect(await outcomes(own.deps)).toEqual(['a: sent 1'])
  })

  it('A wake during a poll causes one more poll', async () => {
    const looking = gate<void>()
    let first = true
    const own = app(
      { a: recordingChannel() },
      {
        store: (real) => ({
          async claim(request) {
            if (!first) return real.claim(request)
            first = false
            const found = await real.claim(request)
            await looking.promise
            return found
          },
        }),
      },
    )
    own.worker.start()
    await accepted(own.deps, BODY)
    await settled(own)
    looking.open()
    await settled(own)
    expect(await outcomes(own.deps)).toEqual(['a: sent 1'])
  })

  it('A worker claims only deliveries of its channels', async () => {
    const both = defineEvents({ e: { channels: { a: {}, b: {} } } })
    const own = app({ a: recordingChannel(), b: recordingChannel() }, {}, { events: both })
    await accepted(own.deps, BODY)
    const { b: _, ...channels } = own.deps.channels
    const worker = createWorker({ ...own.deps, channels })
    worker.start()
    await settled(own)
    expect(await outcomes(own.deps)).toEqual(['a: sent 1', 'b: queued 0'])
    await worker.stop()
  })

  it('A worker continues after a failed claim and logs it', async () => {
    let failures = 2
    const own = app(
      { a: recordingChannel() },
      {
        store: (real) => ({
          claim: (request) => (failures-- > 0 ? Promise.reject(new TypeError('jane')) : real.claim(request)),
        }),
      },
    )
    await accepted(own.deps, BODY)
    own.worker.start()
    await settled(own)
    expect(await outcomes(own.deps)).toEqual(['a: queued 0'])
    expect(own.deps.logger.lines.filter(({ event }) => event !== 'worker.started')).toEqual([
      { level: 'error', event: 'worker.claim_failed', fields: { cause: 'TypeError', stack: expect.any(String) } },
    ])
    await pass(own, 2_000)
    expect(await outcomes(own.deps)).toEqual(['a: sent 1'])
  })

  it('A worker logs each fault of a long outage at most once in ten seconds, and onError gets all', async () => {
    const seen: unknown[] = []
    let code = 'ECONNREFUSED'
    const fail = () => Promise.reject(Object.assign(new Error('jane'), { code }))
    const hooks = { onError: (error: unknown) => void seen.push(error) }
    const own = app({ a: recordingChannel() }, { store: () => ({ claim: fail }) }, { hooks })
    own.worker.start()
    await settled(own)
    await pass(own, 9_000)
    code = '3D000'
    await pass(own, 4_000)
    await own.worker.stop()
    const failed = own.deps.logger.lines.filter(({ event }) => event === 'worker.claim_failed')
    expect(failed.map(({ fields = {} }) => [fields.causeCode, fields.omitted])).toEqual([
      ['ECONNREFUSED', undefined],
      ['3D000', undefined],
    ])
    expect(seen.length).toBeGreaterThan(10)
  })

  it('A worker logs the fault of an outage again with the number of omitted lines', async () => {
    const own = app(
      { a: recordingChannel() },
      { store: () => ({ claim: () => Promise.reject(new TypeError('jane')) }) },
    )
    own.worker.start()
    await settled(own)
    await pass(own, 10_000)
    await own.worker.stop()
    const failed = own.deps.logger.lines.filter(({ event }) => event === 'worker.claim_failed')
    expect(failed.map(({ fields }) => fields?.omitted)).toEqual([undefined, 9])
  })

  it('A worker logs the first fault of each outage at once', async () => {
    let isDown = true
    const claim: DispatchStore['claim'] = async () => {
      if (isDown) throw new TypeError('jane')
      return { deliveries: [], expired: [] }
    }
    const own = app({ a: recordingChannel() }, { store: () => ({ claim }) })
    own.worker.start()
    await settled(own)
    isDown = false
    await pass(own, 2_000)
    isDown = true
    await pass(own, 2_000)
    await own.worker.stop()
    expect(own.deps.logger.lines.filter(({ event }) => event === 'worker.claim_failed')).toHaveLength(2)
  })

  it('A delivery that could not be settled is claimed again after its lease', async () => {
    let isDown = true
    const a = recordingChannel()
    const own = app(
      { a },
      {
        store: (real) => ({
          settle: (settlement) => (isDown ? Promise.reject(new TypeError('jane')) : real.settle(settlement)),
        }),
      },
    )
    await accepted(own.deps, BODY)
    own.worker.start()
    await settled(own)
    await pass(own, 29_000)
    expect(await outcomes(own.deps)).toEqual(['a: sending 1'])
    expect(own.deps.logger.lines.at(-1)).toEqual({
      level: 'error',
      event: 'delivery.settle_failed',
      fields: { deliveryId: 'dlv_2', cause: 'TypeError', stack: expect.any(String) },
    })
    isDown = false
    await pass(own, 1_000)
    expect(await outcomes(own.deps)).toEqual(['a: sent 2'])
    expect(a.sent.map(({ deliveryId }) => deliveryId)).toEqual(['dlv_2', 'dlv_2'])
  })

  it('A worker does not spin when a store reports more but gives nothing', async () => {
    const own = app(
      { a: recordingChannel() },
      { store: () => ({ claim: async () => ({ deliveries: [], expired: [], nextDueInMs: 0 }) }) },
    )
    own.worker.start()
    await settled(own)
    expect(own.claims.length).toBe(1)
    await pass(own, 10, 10)
    expect(own.claims.length).toBe(2)
    await own.worker.stop()
  })

  it('A worker does not spin when every claimed delivery must be queued again', async () => {
    let released = 0
    const own = app(
      { a: recordingChannel() },
      {
        store: (real) => ({
          async claim(request) {
            const { deliveries } = await real.claim(request)
            return { deliveries: deliveries.map((one) => ({ ...one, channel: 'b' })), expired: [], nextDueInMs: 0 }
          },
          settle(settlement) {
            released++
            return real.settle(settlement)
          },
        }),
      },
    )
    await acceptMany(own.deps, 3)
    own.worker.start()
    await settled(own)
    expect([own.claims.length, released]).toEqual([1, 3])
    await pass(own, 100, 10)
    expect([own.claims.length, released]).toEqual([4, 12])
    await own.worker.stop()
  })

  it('A worker does not spin when a store reports that a delivery is due now', async () => {
    const claim = async () => ({ deliveries: [], expired: [], nextDueInMs: 1e-9 })
    const own = app({ a: recordingChannel() }, { store: () => ({ claim }) })
    own.worker.start()
    await settled(own)
    expect(own.claims).toHaveLength(1)
    await own.worker.stop()
  })

  it('A worker sends nothing with a lease that a slow claim used up', async () => {
    const channel = recordingChannel()
    const own: TestApp = app(
      { a: channel },
      {
        store: (real) => ({
          async claim(request) {
            const claims = await real.claim(request)
            own.deps.clock.advance(30_000)
            return claims
          },
        }),
      },
    )
    await accepted(own.deps, BODY)
    own.worker.start()
    await settled(own)
    await own.worker.stop()
    expect(channel.sent).toEqual([])
  })

  it('Further calls of `start` do nothing', async () => {
    let listeners = 0
    const queue = {
      wake: () => {},
      listen: () => {
        listeners++
        return () => void listeners--
      },
    }
    const own = app({ a: recordingChannel() })
    const worker = createWorker({ ...own.deps, queue })
    worker.start()
    worker.start()
    await settled(own)
    expect([listeners, own.deps.clock.timers]).toEqual([1, 2])
    await worker.stop()
    expect([listeners, own.deps.clock.timers]).toEqual([0, 0])
  })

  it('Workers that share a store send nothing twice', async () => {
    const a = recordingChannel()
    const own = app({ a }, { concurrency: 2 })
    const workers = Array.from({ length: 4 }, () => createWorker(own.deps, { concurrency: 2 }))
    await acceptMany(own.deps, 40)
    for (const worker of workers) worker.start()
    await settled(own)
    await pass(own, 3_000)
    expect(await totals(own.deps)).toEqual({ sent: 40 })
    expect(new Set(a.sent.map(({ deliveryId }) => deliveryId)).size).toBe(40)
    expect(a.sent).toHaveLength(40)
    await Promise.all(workers.map((worker) => worker.stop()))
  })
})

describe('the local queue', () => {
  it('The local queue wakes every listener, at once or later, until it stops listening', async () => {
    const clock = fakeClock()
    const queue = localQueue(clock)
    const woken: string[] = []
    const stop = queue.listen(queueListener({ due: () => void woken.push('one') }))
    queue.listen(queueListener({ due: () => void woken.push('two') }))
    queue.wake(0)
    await Promise.resolve()
    expect(woken).toEqual(['one', 'two'])
    queue.wake(500)
    clock.advance(499)
    expect(woken).toHaveLength(2)
    stop()
    clock.advance(1)
    expect(woken).toEqual(['one', 'two', 'two'])
  })

  it('The local queue is never connected, because other processes may share the store', async () => {
    const queue = localQueue(fakeClock())
    const reported: string[] = []
    queue.listen(queueListener({ connected: () => void reported.push('connected') }))
    queue.wake(0)
    await Promise.resolve()
    expect(reported).toEqual([])
  })

  it('The local queue sets no timer without listeners', () => {
    const clock = fakeClock()
    localQueue(clock).wake(500)
    expect(clock.timers).toBe(0)
  })
})
