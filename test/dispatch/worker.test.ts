import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../src/core/dispatch/define-events.ts'
import { createWorker, type Worker, type WorkerOptions } from '../../src/core/dispatch/worker.ts'
import type { Channel, SendOutcome } from '../../src/ports/channel.ts'
import type { DeliveryQueue } from '../../src/ports/delivery-queue.ts'
import type { DispatchStore } from '../../src/ports/dispatch-store.ts'
import { localQueue } from '../../src/queue/local.ts'
import { type TestDeps, testDeps } from '../support/deps.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { recordingChannel } from '../support/recording-channel.ts'
import { accepted, type Gate, gate, outcomes, stored } from './dispatching.ts'

const BODY = { eventType: 'e', recipient: 'jane@example.com' }
const SENT: SendOutcome = { outcome: 'sent' }
const events = defineEvents({ e: { channels: { a: {} } } })

interface House {
  readonly deps: TestDeps & { readonly queue: DeliveryQueue }
  readonly worker: Worker
  readonly claims: () => number
}

/** A worker over one store, whose claims are counted and whose methods may be replaced. */
function house(
  channels: Readonly<Record<string, Channel>>,
  { store: change, ...options }: WorkerOptions & { store?: (real: DispatchStore) => Partial<DispatchStore> } = {},
  rest = {},
): House {
  const base = testDeps(channels, { events, ...rest })
  const queue = localQueue(base.clock)
  let claims = 0
  const changed = { ...base.store, ...change?.(base.store) }
  const store = {
    ...changed,
    claim: (request: Parameters<DispatchStore['claim']>[0]) => {
      claims++
      return changed.claim(request)
    },
  }
  const deps = { ...base, queue }
  return { deps, worker: createWorker({ ...deps, store }, options), claims: () => claims }
}

/** Lets everything happen that happens without the clock moving on. */
async function settled({ deps: { clock } }: House): Promise<void> {
  for (let round = 0; round < 5; round++) {
    await new Promise(setImmediate)
    clock.advance(0)
  }
}

/** Moves the clock on, step by step, and lets everything happen on the way. */
async function pass(own: House, ms: number, step = 1_000): Promise<void> {
  for (let left = ms; left > 0; left -= step) {
    own.deps.clock.advance(Math.min(step, left))
    await settled(own)
  }
}

/** A channel that sends when its gates are opened, and counts how many messages it has in hand. */
function gated() {
  const gates: Gate<SendOutcome>[] = []
  let most = 0
  let open = 0
  const channel = recordingChannel([
    async () => {
      const next = gate<SendOutcome>()
      gates.push(next)
      most = Math.max(most, ++open)
      return next.promise.finally(() => open--)
    },
  ])
  return { channel, gates, most: () => most, open: () => open }
}

async function acceptMany(deps: TestDeps, count: number): Promise<void> {
  for (let at = 0; at < count; at++) await accepted(deps, BODY)
}

async function tally(deps: TestDeps): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  for (const { deliveries } of await stored(deps)) {
    for (const { status } of deliveries) counts[status] = (counts[status] ?? 0) + 1
  }
  return counts
}

describe('a worker that was started', () => {
  it('sends what is due already', async () => {
    const own = house({ a: recordingChannel() })
    await acceptMany(own.deps, 25)
    own.worker.start()
    await settled(own)
    expect(await tally(own.deps)).toEqual({ sent: 25 })
  })

  it('sends what is accepted at once, without the clock moving on', async () => {
    const own = house({ a: recordingChannel() })
    own.worker.start()
    await settled(own)
    await accepted(own.deps, BODY)
    await settled(own)
    expect(await outcomes(own.deps)).toEqual(['a: sent 1'])
  })

  it('makes another attempt when it is due, and not before', async () => {
    const a = recordingChannel([{ outcome: 'retry', code: 'busy', retryAfterMs: 400 }, SENT], { retrySchedule: [400] })
    const own = house({ a })
    await accepted(own.deps, BODY)
    own.worker.start()
    await settled(own)
    await pass(own, 399, 399)
    expect(a.sent).toHaveLength(1)
    await pass(own, 1)
    expect(a.sent).toHaveLength(2)
    expect(await outcomes(own.deps)).toEqual(['a: sent 2'])
  })

  it('has never more in hand than its concurrency, and fills a slot as soon as it is free', async () => {
    const { channel, gates, most, open } = gated()
    const own = house({ a: channel }, { concurrency: 3 })
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
    expect(await tally(own.deps)).toEqual({ sent: 8 })
  })

  it('is not held up by one message that takes its time', async () => {
    const { channel, gates } = gated()
    const slow = recordingChannel([() => new Promise(() => {})])
    const both = defineEvents({ e: { channels: { slow: {}, a: {} } } })
    const own = house({ slow, a: channel }, { concurrency: 2 }, { events: both })
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

  it('frees the slot of a channel that never answers, when the lease is ending', async () => {
    const a = recordingChannel([() => new Promise(() => {}), async () => SENT])
    const own = house({ a }, { concurrency: 1, leaseMs: 10_000 })
    await acceptMany(own.deps, 2)
    own.worker.start()
    await settled(own)
    expect(a.sent).toHaveLength(1)
    await pass(own, 9_000)
    expect(a.sent.length).toBeGreaterThanOrEqual(2)
    await pass(own, 3_000)
    expect(await tally(own.deps)).toEqual({ sent: 2 })
  })

  it('looks every second when nothing wakes it', async () => {
    const own = house({ a: recordingChannel() })
    own.worker.start()
    await settled(own)
    const first = own.claims()
    await pass(own, 999, 999)
    expect(own.claims()).toBe(first)
    await pass(own, 1)
    expect(own.claims()).toBe(first + 1)
    await pass(own, 10_000)
    expect(own.claims()).toBe(first + 11)
  })

  it('looks as often as it is told to, and finds what another process accepted', async () => {
    const own = house({ a: recordingChannel() }, { pollMs: 250 })
    own.worker.start()
    await settled(own)
    await accepted({ ...own.deps, queue: undefined } as unknown as TestDeps, BODY)
    await settled(own)
    expect(await outcomes(own.deps)).toEqual(['a: queued 0'])
    await pass(own, 250, 250)
    expect(await outcomes(own.deps)).toEqual(['a: sent 1'])
  })

  it('looks once more when it is woken while it is looking', async () => {
    const looking = gate<void>()
    let first = true
    const own = house(
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

  it('takes only what its channels can send', async () => {
    const both = defineEvents({ e: { channels: { a: {}, b: {} } } })
    const own = house({ a: recordingChannel(), b: recordingChannel() }, {}, { events: both })
    await accepted(own.deps, BODY)
    const { b: _, ...channels } = own.deps.channels
    const worker = createWorker({ ...own.deps, channels })
    worker.start()
    await settled(own)
    expect(await outcomes(own.deps)).toEqual(['a: sent 1', 'b: queued 0'])
    await worker.stop()
  })

  it('goes on after the store failed to claim, and says so in the log', async () => {
    let failures = 2
    const own = house(
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
    expect(own.deps.logger.lines).toEqual([
      { level: 'error', event: 'worker.claim_failed', fields: { cause: 'TypeError' } },
    ])
    await pass(own, 2_000)
    expect(await outcomes(own.deps)).toEqual(['a: sent 1'])
  })

  it('takes up again, when the lease has ended, what the store failed to write down', async () => {
    let failures = 1
    const a = recordingChannel()
    const own = house(
      { a },
      {
        store: (real) => ({
          settle: (settlement) => (failures-- > 0 ? Promise.reject(new TypeError('jane')) : real.settle(settlement)),
        }),
      },
    )
    await accepted(own.deps, BODY)
    own.worker.start()
    await settled(own)
    expect(await outcomes(own.deps)).toEqual(['a: sending 1'])
    expect(own.deps.logger.lines).toEqual([
      { level: 'error', event: 'delivery.settle_failed', fields: { deliveryId: 'dlv_2', cause: 'TypeError' } },
    ])
    await pass(own, 30_000)
    expect(await outcomes(own.deps)).toEqual(['a: sent 2'])
    expect(a.sent.map(({ deliveryId }) => deliveryId)).toEqual(['dlv_2', 'dlv_2'])
  })

  it('does not spin when a store says that there is more, and gives nothing', async () => {
    const own = house(
      { a: recordingChannel() },
      { store: () => ({ claim: async () => ({ deliveries: [], nextDueInMs: 0 }) }) },
    )
    own.worker.start()
    await settled(own)
    expect(own.claims()).toBe(1)
    await pass(own, 10, 10)
    expect(own.claims()).toBe(2)
    await own.worker.stop()
  })

  it('sends nothing with a lease that a slow claim has used up', async () => {
    const channel = recordingChannel()
    const own: House = house(
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
    const { deliveries } = await own.deps.store.claim({ limit: 0, leaseMs: 1, channels: ['a'] })
    expect(deliveries).toEqual([])
    own.worker.start()
    await settled(own)
    await own.worker.stop()
    expect(channel.sent).toEqual([])
  })

  it('is started once, however often it is told to', async () => {
    let listeners = 0
    const queue = {
      wake: () => {},
      listen: () => {
        listeners++
        return () => void listeners--
      },
    }
    const own = house({ a: recordingChannel() })
    const worker = createWorker({ ...own.deps, queue })
    worker.start()
    worker.start()
    await settled(own)
    expect([listeners, own.deps.clock.timers]).toEqual([1, 1])
    await worker.stop()
    expect([listeners, own.deps.clock.timers]).toEqual([0, 0])
  })

  it('shares a store with others: nothing is sent twice', async () => {
    const a = recordingChannel()
    const own = house({ a }, { concurrency: 2 })
    const workers = Array.from({ length: 4 }, () => createWorker(own.deps, { concurrency: 2 }))
    await acceptMany(own.deps, 40)
    for (const worker of workers) worker.start()
    await settled(own)
    await pass(own, 3_000)
    expect(await tally(own.deps)).toEqual({ sent: 40 })
    expect(new Set(a.sent.map(({ deliveryId }) => deliveryId)).size).toBe(40)
    expect(a.sent).toHaveLength(40)
    await Promise.all(workers.map((worker) => worker.stop()))
  })
})

describe('a worker that is stopped', () => {
  it('waits for what it is sending, and claims nothing more', async () => {
    const { channel, gates } = gated()
    const own = house({ a: channel }, { concurrency: 2 })
    await acceptMany(own.deps, 4)
    own.worker.start()
    await settled(own)
    let stopped = false
    const stopping = own.worker.stop().then(() => {
      stopped = true
    })
    await settled(own)
    expect(stopped).toBe(false)
    gates[0]?.open(SENT)
    await settled(own)
    expect(stopped).toBe(false)
    gates[1]?.open(SENT)
    await stopping
    expect(await tally(own.deps)).toEqual({ sent: 2, queued: 2 })
    expect(own.deps.clock.timers).toBe(0)
    await accepted(own.deps, BODY)
    await pass(own, 5_000)
    expect(await tally(own.deps)).toEqual({ sent: 2, queued: 3 })
  })

  it('sends what it was being handed when it was told to stop', async () => {
    const handing = gate<void>()
    const a = recordingChannel()
    const own = house(
      { a },
      {
        store: (real) => ({
          async claim(request) {
            const found = await real.claim(request)
            await handing.promise
            return found
          },
        }),
      },
    )
    await accepted(own.deps, BODY)
    own.worker.start()
    await settled(own)
    const stopping = own.worker.stop()
    handing.open()
    await stopping
    expect(await outcomes(own.deps)).toEqual(['a: sent 1'])
    expect(own.deps.clock.timers).toBe(0)
  })

  it('waits for what runDue is sending', async () => {
    const { promise, open } = gate<SendOutcome>()
    const own = house({ a: recordingChannel([() => promise]) })
    await accepted(own.deps, BODY)
    const due = own.worker.runDue()
    await settled(own)
    let stopped = false
    const stop = own.worker.stop().then(() => {
      stopped = true
    })
    await settled(own)
    expect(stopped).toBe(false)
    open(SENT)
    await stop
    expect(await outcomes(own.deps)).toEqual(['a: sent 1'])
    await due
  })

  it('need not have been started, and may be stopped twice', async () => {
    const own = house({ a: recordingChannel() })
    await own.worker.stop()
    own.worker.start()
    await Promise.all([own.worker.stop(), own.worker.stop()])
    await own.worker.stop()
    expect(own.deps.clock.timers).toBe(0)
  })

  it('may be started again, even while it stops', async () => {
    const { channel, gates } = gated()
    const own = house({ a: channel }, { concurrency: 1 })
    await acceptMany(own.deps, 2)
    own.worker.start()
    await settled(own)
    const stopping = own.worker.stop()
    own.worker.start()
    gates[0]?.open(SENT)
    await settled(own)
    gates[1]?.open(SENT)
    await settled(own)
    await stopping
    expect(await tally(own.deps)).toEqual({ sent: 2 })
    expect(own.deps.clock.timers).toBe(1)
    await own.worker.stop()
  })
})

describe('runDue', () => {
  it('counts what it attempted and how that went', async () => {
    const a = recordingChannel([SENT, { outcome: 'retry', code: 'busy' }, { outcome: 'rejected', code: 'no' }, SENT])
    const own = house({ a })
    await acceptMany(own.deps, 4)
    expect(await own.worker.runDue()).toEqual({ attempted: 4, sent: 2, retried: 1, failed: 1 })
    expect(await tally(own.deps)).toEqual({ sent: 2, queued: 1, failed: 1 })
  })

  it('does nothing when nothing is due', async () => {
    const own = house({ a: recordingChannel() })
    expect(await own.worker.runDue()).toEqual({ attempted: 0, sent: 0, retried: 0, failed: 0 })
  })

  it('goes on until nothing is due, past its concurrency', async () => {
    const { channel, gates, most } = gated()
    const own = house({ a: channel }, { concurrency: 10 })
    await acceptMany(own.deps, 25)
    const run = own.worker.runDue()
    for (let at = 0; at < 25; at++) {
      await settled(own)
      gates[at]?.open(SENT)
    }
    expect(await run).toMatchObject({ attempted: 25, sent: 25 })
    expect(most()).toBe(10)
  })

  it('makes what is due again at once part of it', async () => {
    const own = house({ a: recordingChannel([{ outcome: 'retry', code: 'busy' }, SENT], { retrySchedule: [0] }) })
    await accepted(own.deps, BODY)
    expect(await own.worker.runDue()).toEqual({ attempted: 2, sent: 1, retried: 1, failed: 0 })
  })

  it('leaves nothing running and nothing set', async () => {
    const own = house({ a: recordingChannel() })
    await accepted(own.deps, BODY)
    await own.worker.runDue()
    expect(own.deps.clock.timers).toBe(0)
    await accepted(own.deps, BODY)
    await settled(own)
    expect(await tally(own.deps)).toEqual({ sent: 1, queued: 1 })
  })

  it('works beside a worker that was started', async () => {
    const a = recordingChannel()
    const own = house({ a })
    await acceptMany(own.deps, 20)
    own.worker.start()
    await own.worker.runDue()
    await settled(own)
    expect(await tally(own.deps)).toEqual({ sent: 20 })
    expect(a.sent).toHaveLength(20)
    await own.worker.stop()
  })

  it('throws what the store throws when it claims', async () => {
    const own = house({ a: recordingChannel() }, { store: () => ({ claim: () => Promise.reject(new Error('down')) }) })
    await expect(own.worker.runDue()).rejects.toThrow('down')
  })

  it('throws what the store throws when it settles, and not before all it began has ended', async () => {
    const { channel, gates, open } = gated()
    let failures = 1
    const own = house(
      { a: channel },
      {
        store: (real) => ({
          settle: (settlement) => (failures-- > 0 ? Promise.reject(new Error('down')) : real.settle(settlement)),
        }),
      },
    )
    await acceptMany(own.deps, 2)
    let ended = false
    const run = own.worker.runDue().finally(() => {
      ended = true
    })
    const outcome = run.catch(({ message }: Error) => message)
    await settled(own)
    gates[0]?.open(SENT)
    await settled(own)
    expect({ ended, open: open() }).toEqual({ ended: false, open: 1 })
    gates[1]?.open(SENT)
    expect(await outcome).toBe('down')
  })
})

describe('the local queue', () => {
  it('wakes every listener, at once or later, until it stops listening', async () => {
    const clock = fakeClock()
    const queue = localQueue(clock)
    const rung: string[] = []
    const stop = queue.listen(() => void rung.push('one'))
    queue.listen(() => void rung.push('two'))
    queue.wake(0)
    await Promise.resolve()
    expect(rung).toEqual(['one', 'two'])
    queue.wake(500)
    clock.advance(499)
    expect(rung).toHaveLength(2)
    stop()
    clock.advance(1)
    expect(rung).toEqual(['one', 'two', 'two'])
  })

  it('sets no timer while nobody listens', () => {
    const clock = fakeClock()
    localQueue(clock).wake(500)
    expect(clock.timers).toBe(0)
  })
})
