import { describe, expect, it } from 'vitest'
import { createWorker } from '../../../src/core/delivery/worker.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DeliveryEvent } from '../../../src/core/hooks.ts'
import type { DeliveryPolicy, Verdict } from '../../../src/ports/delivery-policy.ts'
import type { DispatchStore } from '../../../src/ports/dispatch-store.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { accepted, gate, outcomes } from '../dispatch/dispatching.ts'
import { acceptMany, app, BODY, gated, pass, SENT, settled, totals } from './test-app.ts'

const NONE = { attempted: 0, sent: 0, retried: 0, failed: 0, skipped: 0, expired: 0 }

describe('runDue', () => {
  it('runDue counts attempts by their result', async () => {
    const a = recordingChannel([SENT, { outcome: 'retry', code: 'busy' }, { outcome: 'rejected', code: 'no' }, SENT])
    const own = app({ a })
    await acceptMany(own.deps, 4)
    expect(await own.worker.runDue()).toEqual({ ...NONE, attempted: 4, sent: 2, retried: 1, failed: 1 })
    expect(await totals(own.deps)).toEqual({ sent: 2, queued: 1, failed: 1 })
  })

  it('runDue does nothing when nothing is due', async () => {
    const own = app({ a: recordingChannel() })
    expect(await own.worker.runDue()).toEqual(NONE)
  })

  it('runDue sends more deliveries than its concurrency', async () => {
    const { channel, gates, most } = gated()
    const own = app({ a: channel }, { concurrency: 10 })
    await acceptMany(own.deps, 25)
    const run = own.worker.runDue()
    for (let at = 0; at < 25; at++) {
      await settled(own)
      gates[at]?.open(SENT)
    }
    expect(await run).toMatchObject({ attempted: 25, sent: 25 })
    expect(most()).toBe(10)
  })

  it('runDue sends deliveries that are due again at once', async () => {
    const own = app({ a: recordingChannel([{ outcome: 'retry', code: 'busy' }, SENT], { retrySchedule: [0] }) })
    await accepted(own.deps, BODY)
    expect(await own.worker.runDue()).toEqual({ ...NONE, attempted: 2, sent: 1, retried: 1 })
  })

  it('runDue leaves no work in flight and no timer', async () => {
    const own = app({ a: recordingChannel() })
    await accepted(own.deps, BODY)
    await own.worker.runDue()
    expect(own.deps.clock.timers).toBe(0)
    await accepted(own.deps, BODY)
    await settled(own)
    expect(await totals(own.deps)).toEqual({ sent: 1, queued: 1 })
  })

  it('runDue works beside a started worker', async () => {
    const a = recordingChannel()
    const own = app({ a })
    await acceptMany(own.deps, 20)
    own.worker.start()
    await own.worker.runDue()
    await settled(own)
    expect(await totals(own.deps)).toEqual({ sent: 20 })
    expect(a.sent).toHaveLength(20)
    await own.worker.stop()
  })

  it('runDue throws the error of a claim', async () => {
    const own = app({ a: recordingChannel() }, { store: () => ({ claim: () => Promise.reject(new Error('down')) }) })
    await expect(own.worker.runDue()).rejects.toThrow('down')
  })

  it('runDue throws the error of a settlement after all its attempts have ended', async () => {
    const { channel, gates, open } = gated()
    const own = app(
      { a: channel },
      {
        store: (real) => ({
          settle: (settlement) =>
            settlement.deliveryId === 'dlv_2' ? Promise.reject(new Error('down')) : real.settle(settlement),
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
    await pass(own, 27_000)
    expect({ ended, open: open() }).toEqual({ ended: false, open: 1 })
    gates[1]?.open(SENT)
    expect(await outcome).toBe('down')
  })

  it('runDue counts skipped and expired deliveries separately, and deferred ones not at all', async () => {
    const verdicts: Verdict[] = [
      { verdict: 'skip', reason: 'opted_out' },
      { verdict: 'send' },
      { verdict: 'defer', until: Number.MAX_SAFE_INTEGER },
    ]
    let planning = true
    const policy: DeliveryPolicy = {
      decide: () => (planning ? undefined : verdicts.shift()) ?? { verdict: 'send' },
    }
    const delayed = defineEvents({ e: { delayMs: 1_000, channels: { a: {} } }, old: { channels: { a: {} } } })
    const own = app({ a: recordingChannel() }, {}, { events: delayed, policy, expiresInMs: 1_000 })
    await accepted(own.deps, { ...BODY, eventType: 'old' })
    await acceptMany(own.deps, 3)
    planning = false
    own.deps.clock.advance(1_000)
    expect(await own.worker.runDue()).toEqual({ ...NONE, attempted: 1, sent: 1, skipped: 1, expired: 1 })
    expect(await totals(own.deps)).toEqual({ sent: 1, skipped: 1, queued: 1, expired: 1 })
  })

  it('runDue fills a free slot at once: a slow message does not block the others', async () => {
    const { channel, gates, open } = gated()
    const own = app({ a: channel }, { concurrency: 2 })
    await acceptMany(own.deps, 6)
    const run = own.worker.runDue()
    await settled(own)
    for (let at = 1; at < 6; at++) {
      expect(open()).toBe(2)
      gates[at]?.open(SENT)
      await settled(own)
    }
    expect(open()).toBe(1)
    expect(await totals(own.deps)).toEqual({ sent: 5, sending: 1 })
    gates[0]?.open(SENT)
    expect(await run).toMatchObject({ attempted: 6, sent: 6 })
  })

  it('runDue claims again when a slot became free during a claim', async () => {
    const both = defineEvents({ e: { channels: { a: {}, b: {} } } })
    const [first, second] = [gated(), gated()]
    const looking = gate<void>()
    const store = (real: DispatchStore): Partial<DispatchStore> => ({
      async claim(request) {
        const found = await real.claim(request)
        if (request.limits.a === undefined) await looking.promise
        return found
      },
    })
    const channels = { a: first.channel, b: second.channel }
    const own = app(channels, { channels: { a: { concurrency: 1 } }, store }, { events: both })
    await accepted(own.deps, BODY)
    await accepted(own.deps, { ...BODY, channel: 'a' })
    const run = own.worker.runDue()
    await settled(own)
    first.gates[0]?.open(SENT)
    await settled(own)
    looking.open()
    await settled(own)
    expect([first.gates.length, second.gates.length]).toEqual([2, 1])
    first.gates[1]?.open(SENT)
    second.gates[0]?.open(SENT)
    expect(await run).toMatchObject({ sent: 3 })
  })

  it('runDue shares the slots of the started worker', async () => {
    const { channel, gates, most } = gated()
    const own = app({ a: channel }, { concurrency: 3 })
    await acceptMany(own.deps, 9)
    own.worker.start()
    const runs = [own.worker.runDue(), own.worker.runDue()]
    for (let at = 0; at < 9; at++) {
      await settled(own)
      gates[at]?.open(SENT)
    }
    await settled(own)
    await Promise.all(runs)
    expect(most()).toBe(3)
    expect(await totals(own.deps)).toEqual({ sent: 9 })
    await own.worker.stop()
  })

  it('runDue sends the fallback of a failed delivery', async () => {
    const both = defineEvents({ e: { route: 'first', channels: { a: {}, b: {} } } })
    const a = recordingChannel([{ outcome: 'rejected', code: 'no' }])
    const own = app({ a, b: recordingChannel() }, {}, { events: both })
    await accepted(own.deps, BODY)
    expect(await own.worker.runDue()).toMatchObject({ attempted: 2, sent: 1, failed: 1 })
  })

  it('runDue continues after expired deliveries', async () => {
    const head = {
      dispatchId: 'd',
      tenant: 't',
      by: 'app_1',
      eventType: 'e',
      recipient: 'r',
      route: 'all',
      createdAt: 0,
    } as const
    const gone = { deliveryId: 'v', channel: 'a', status: 'expired', attempts: 0, dispatch: head } as const
    let isFirst = true
    const store = (real: DispatchStore): Partial<DispatchStore> => ({
      async claim(request) {
        if (!isFirst) return real.claim(request)
        isFirst = false
        return { deliveries: [], expired: [gone], nextDueInMs: 0 }
      },
    })
    const own = app({ a: recordingChannel() }, { store })
    await accepted(own.deps, BODY)
    expect(await own.worker.runDue()).toMatchObject({ sent: 1, expired: 1 })
  })

  it('runDue counts a lost lease as attempted', async () => {
    const own = app({ a: recordingChannel() }, { store: () => ({ settle: async () => ({ live: false }) }) })
    await accepted(own.deps, BODY)
    expect(await own.worker.runDue()).toEqual({ ...NONE, attempted: 1 })
  })

  it('runDue ends when a store reports more but gives nothing', async () => {
    const claim = async () => ({ deliveries: [], expired: [], nextDueInMs: 0 })
    const own = app({ a: recordingChannel() }, { store: () => ({ claim }) })
    expect(await own.worker.runDue()).toEqual(NONE)
  })

  it('runDue waits for the hooks, also of expired deliveries', async () => {
    const seen: string[] = []
    const note = async ({ status }: DeliveryEvent): Promise<void> => {
      for (let turn = status === 'expired' ? 9 : 1; turn > 0; turn--) await new Promise(setImmediate)
      seen.push(status)
    }
    const own = app({ a: recordingChannel() }, {}, { expiresInMs: 1_000, hooks: { onSent: note, onFailed: note } })
    await accepted(own.deps, BODY)
    own.deps.clock.advance(1_000)
    await accepted(own.deps, BODY)
    await own.worker.runDue()
    expect(seen.toSorted()).toEqual(['expired', 'sent'])
  })

  it('runDue does nothing without channels', async () => {
    const own = app({ a: recordingChannel() })
    await accepted(own.deps, BODY)
    const worker = createWorker({ ...own.deps, channels: {} })
    expect(await worker.runDue()).toEqual(NONE)
  })
})

describe('sandbox mode', () => {
  it('Sandbox mode claims and sends nothing, and logs worker.sandboxed once', async () => {
    const a = recordingChannel()
    const own = app({ a })
    await accepted(own.deps, BODY)
    const worker = createWorker({ ...own.deps, sandbox: true })
    expect(await worker.runDue()).toEqual(NONE)
    worker.start()
    worker.start()
    await pass(own, 5_000)
    expect(await outcomes(own.deps)).toEqual(['a: queued 0'])
    expect(a.sent).toEqual([])
    expect(own.deps.logger.lines).toEqual([{ level: 'warn', event: 'worker.sandboxed', fields: {} }])
    await worker.stop()
    expect(own.deps.clock.timers).toBe(0)
  })
})
