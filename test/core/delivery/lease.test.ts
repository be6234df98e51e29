import { describe, expect, it } from 'vitest'
import type { AttemptOptions } from '../../../src/core/delivery/attempt.ts'
import type { AttemptResult } from '../../../src/core/delivery/attempt-report.ts'
import { settleLeased } from '../../../src/core/delivery/lease.ts'
import { swapRemoveList } from '../../../src/core/delivery/swap-remove-list.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { SendOutcome } from '../../../src/ports/channel.ts'
import type { Verdict } from '../../../src/ports/delivery-policy.ts'
import type { DispatchStore } from '../../../src/ports/dispatch-store.ts'
import { recordingLogger, type TestDeps } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { claimOne, gate, outcomes, stored } from '../dispatch/dispatching.ts'
import { attempt, attemptClaimed, delivery, depsFor, LEASE, leased, pass, settled, waitForDue } from './attempting.ts'

const SENT: SendOutcome = { outcome: 'sent' }
/** A time-out longer than any test. */
const PATIENT: AttemptOptions = { timeoutMs: 3_600_000 }

interface SendLoop {
  readonly deps: TestDeps
  readonly result: Promise<AttemptResult>
  readonly signal: () => AbortSignal
  readonly renewals: () => number
  readonly ended: () => boolean
}

/** An attempt on a channel with the given answer, by default none; `renew` replaces that of the store. */
async function sending(
  answer: (signal: AbortSignal) => Promise<SendOutcome> = () => new Promise(() => {}),
  {
    renew,
    ...options
  }: AttemptOptions & { renew?: (real: DispatchStore['renew']) => DispatchStore['renew'] } = PATIENT,
): Promise<SendLoop> {
  let signal: AbortSignal | undefined
  let renewals = 0
  let ended = false
  const a = recordingChannel([
    (_, context) => {
      signal = context.signal
      return answer(context.signal)
    },
  ])
  const deps = await depsFor(a)
  const claimed = await claimOne(deps, LEASE)
  const inner = renew?.(deps.store.renew) ?? deps.store.renew
  const store: DispatchStore = {
    ...deps.store,
    renew: (...args) => {
      renewals++
      return inner(...args)
    },
  }
  const result = attemptClaimed(claimed, leased(deps), { ...deps, store }, options).finally(() => {
    ended = true
  })
  result.catch(() => {})
  await settled(deps.clock)
  return {
    deps,
    result,
    signal: () => signal ?? AbortSignal.abort('nothing was sent'),
    renewals: () => renewals,
    ended: () => ended,
  }
}

describe('a lease', () => {
  it('A claim counts the attempt, also when it is never settled', async () => {
    const deps = await depsFor(recordingChannel())
    expect(await claimOne(deps)).toMatchObject({ attempts: 1 })
    expect(await outcomes(deps)).toEqual(['a: sending 1'])
    deps.clock.advance(LEASE)
    expect(await claimOne(deps)).toMatchObject({ attempts: 2 })
    expect(await outcomes(deps)).toEqual(['a: sending 2'])
  })

  it('A settlement with a stale lease token is refused and logged as delivery.lease_lost', async () => {
    const a = recordingChannel([{ outcome: 'rejected', code: 'bad_address' }, SENT])
    const deps = await depsFor(a)
    const zombie = await claimOne(deps, LEASE)
    deps.clock.advance(LEASE)
    const live = await claimOne(deps, LEASE)
    const before = await stored(deps)
    expect(await attemptClaimed(zombie, leased(deps), deps)).toBe('lost')
    expect(await stored(deps)).toEqual(before)
    expect(deps.logger.lines).toMatchObject([
      { level: 'warn', event: 'delivery.lease_lost', fields: { deliveryId: 'dlv_2', attempt: 1 } },
    ])
    expect(await attemptClaimed(live, leased(deps), deps)).toBe('sent')
    const after = await stored(deps)
    expect(await attemptClaimed(zombie, leased(deps), deps)).toBe('lost')
    expect(await stored(deps)).toEqual(after)
  })

  it('A lease is renewed every third of its time, so that no other worker claims the delivery', async () => {
    const own = await sending()
    await pass(own.deps.clock, 9_999, 9_999)
    expect(own.renewals()).toBe(0)
    await pass(own.deps.clock, 1, 1)
    expect(own.renewals()).toBe(1)
    await pass(own.deps.clock, 290_000)
    expect(own.renewals()).toBe(30)
    expect(own.signal().aborted).toBe(false)
    expect((await own.deps.store.claim({ leaseMs: LEASE, limits: { a: 1 }, busy: [] })).deliveries).toEqual([])
  })

  it('A lost lease ends the attempt at the next renewal, without a settlement', async () => {
    const own = await sending(undefined, { ...PATIENT, renew: () => async () => false })
    const before = await stored(own.deps)
    await pass(own.deps.clock, 10_000)
    expect(await own.result).toBe('lost')
    expect(own.signal().aborted).toBe(true)
    expect(await stored(own.deps)).toEqual(before)
    expect(own.deps.logger.lines).toMatchObject([{ level: 'warn', event: 'delivery.lease_lost' }])
  })

  it.each<[string, () => Promise<boolean>]>([
    ['rejects', () => Promise.reject(new TypeError('jane'))],
    [
      'throws',
      () => {
        throw new TypeError('jane')
      },
    ],
  ])('A lease whose renewal %s is renewed after another third', async (_, fail) => {
    let failures = 1
    const renew: (real: DispatchStore['renew']) => DispatchStore['renew'] =
      (real) =>
      (...args) =>
        failures-- > 0 ? fail() : real(...args)
    const own = await sending(undefined, { ...PATIENT, renew })
    await pass(own.deps.clock, 60_000)
    expect(own.renewals()).toBe(6)
    expect(own.ended()).toBe(false)
    expect(own.deps.logger.lines).toEqual([
      {
        level: 'warn',
        event: 'delivery.renew_failed',
        fields: { deliveryId: 'dlv_2', cause: 'TypeError', stack: expect.any(String) },
      },
    ])
  })

  it.each<[string, () => Promise<boolean>]>([
    ['fails again and again', () => Promise.reject(new Error())],
    ['never answers', () => new Promise(() => {})],
  ])('A lease whose renewal %s ends the attempt after nine tenths', async (_, renew) => {
    const own = await sending(undefined, { ...PATIENT, renew: () => renew })
    await pass(own.deps.clock, 26_999)
    expect([own.signal().aborted, own.ended()]).toEqual([false, false])
    await pass(own.deps.clock, 1)
    expect(own.signal().aborted).toBe(true)
    expect(await own.result).toBe('retried')
    expect((await delivery(own.deps)).attemptLog).toMatchObject([{ outcome: 'unknown', code: 'lease_ending' }])
  })

  it('A lease ends nine tenths after its last successful renewal', async () => {
    let successes = 2
    const renew: (real: DispatchStore['renew']) => DispatchStore['renew'] =
      (real) =>
      (...args) =>
        successes-- > 0 ? real(...args) : Promise.reject(new Error())
    const own = await sending(undefined, { ...PATIENT, renew })
    await pass(own.deps.clock, 46_999)
    expect(own.ended()).toBe(false)
    await pass(own.deps.clock, 1)
    expect(own.ended()).toBe(true)
  })

  it('A delivery whose lease was used up by a slow claim is queued again unsent', async () => {
    const a = recordingChannel()
    const deps = await depsFor(a)
    const lease = leased(deps)
    const claimed = await claimOne(deps, LEASE)
    deps.clock.advance(27_000)
    expect(await attemptClaimed(claimed, lease, deps)).toBe('released')
    expect(a.sent).toEqual([])
    expect(await delivery(deps)).toMatchObject({ status: 'queued', attempts: 0, dueAt: deps.clock.now() })
    expect(deps.clock.timers).toBe(0)
  })
})

describe('a renewal', () => {
  it.each([true, false])('A renewal that answers %j after the end of the attempt changes nothing', async (live) => {
    const renewal = gate<boolean>()
    const answer = gate<SendOutcome>()
    const own = await sending(() => answer.promise, { renew: () => () => renewal.promise })
    await pass(own.deps.clock, 10_000)
    answer.open(SENT)
    expect(await own.result).toBe('sent')
    renewal.open(live)
    await settled(own.deps.clock)
    expect([own.deps.clock.timers, own.signal().aborted, own.renewals()]).toEqual([0, false, 1])
  })
})

describe('the time-out of a channel', () => {
  it.each([
    [{}, 60_000],
    [{ timeoutMs: 5_000 }, 5_000],
  ])('A send with the options %j is aborted after %d ms with the outcome unknown', async (options, ms) => {
    const own = await sending(undefined, options)
    await pass(own.deps.clock, ms - 1)
    expect([own.signal().aborted, own.ended()]).toEqual([false, false])
    await pass(own.deps.clock, 1)
    expect([own.signal().aborted, own.ended()]).toEqual([true, false])
    await pass(own.deps.clock, 1_000)
    expect(await own.result).toBe('retried')
    expect((await delivery(own.deps)).attemptLog).toMatchObject([{ outcome: 'unknown', code: 'send_timeout' }])
    expect(own.deps.clock.timers).toBe(0)
  })

  it('A channel has one second after its time-out to give its outcome', async () => {
    const own = await sending(
      (signal) =>
        new Promise((resolve) =>
          signal.addEventListener('abort', () => resolve({ outcome: 'retry', code: 'aborted', provider: '2' })),
        ),
      { timeoutMs: 5_000 },
    )
    await pass(own.deps.clock, 5_000)
    expect(await own.result).toBe('retried')
    expect((await delivery(own.deps)).attemptLog).toMatchObject([{ outcome: 'retry', code: 'aborted', provider: '2' }])
  })

  it('The time-out is the outcome, whatever the channel throws after it', async () => {
    const own = await sending(
      (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted')))),
      { timeoutMs: 5_000 },
    )
    await pass(own.deps.clock, 5_000)
    expect((await delivery(own.deps)).attemptLog).toMatchObject([{ outcome: 'unknown', code: 'send_timeout' }])
    expect(own.deps.logger.lines.map(({ event }) => event)).toEqual(['delivery.queued'])
  })

  it.each<SendOutcome | Error>([SENT, new Error('late')])(
    'A result after the time-out and its second is ignored: %j',
    async (late) => {
      const answer = gate<SendOutcome | Promise<never>>()
      const own = await sending(async () => answer.promise, { timeoutMs: 5_000 })
      await pass(own.deps.clock, 6_000)
      await own.result
      const before = await stored(own.deps)
      answer.open(late instanceof Error ? Promise.reject(late) : late)
      await settled(own.deps.clock)
      expect(await stored(own.deps)).toEqual(before)
    },
  )

  it('A channel that answers in time leaves no timer and no aborted signal', async () => {
    const own = await sending(async () => SENT)
    expect(await own.result).toBe('sent')
    expect(own.deps.clock.timers).toBe(0)
    await pass(own.deps.clock, LEASE)
    expect([own.signal().aborted, own.renewals()]).toEqual([false, 0])
  })
})

describe('a stopped attempt', () => {
  const ignoring = (): Promise<SendOutcome> => new Promise(() => {})
  const halt = (stops: Iterable<() => void>): void => {
    for (const stop of stops) stop()
  }

  it('A stopped attempt aborts its signal, and is unknown after one second', async () => {
    const stops = swapRemoveList<() => void>()
    const own = await sending(ignoring, { stops })
    halt(stops)
    expect(own.signal().aborted).toBe(true)
    await pass(own.deps.clock, 999, 999)
    expect(own.ended()).toBe(false)
    await pass(own.deps.clock, 1)
    expect(await own.result).toBe('retried')
    expect((await delivery(own.deps)).attemptLog).toMatchObject([{ outcome: 'unknown', code: 'stopped' }])
    expect(own.deps.clock.timers).toBe(0)
  })

  it('A stopped attempt takes the outcome that the channel gives within one second', async () => {
    const stops = swapRemoveList<() => void>()
    const answer = gate<SendOutcome>()
    const own = await sending(() => answer.promise, { stops })
    halt(stops)
    await pass(own.deps.clock, 500)
    answer.open(SENT)
    expect(await own.result).toBe('sent')
    expect(own.deps.clock.timers).toBe(0)
  })

  it('A stopped attempt is unknown when the channel throws', async () => {
    const stops = swapRemoveList<() => void>()
    const own = await sending(
      (signal) => new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      { stops },
    )
    halt(stops)
    expect(await own.result).toBe('retried')
    expect((await delivery(own.deps)).attemptLog).toMatchObject([{ outcome: 'unknown', code: 'stopped' }])
  })

  it('An attempt stopped before its send queues the delivery again', async () => {
    const stops = swapRemoveList<() => void>()
    const verdict = gate<Verdict>()
    let isPlanning = true
    const policy = { decide: () => (isPlanning ? ({ verdict: 'send' } as const) : verdict.promise) }
    const delayed = defineEvents({ e: { delayMs: 1_000, channels: { a: {} } } })
    const a = recordingChannel()
    const deps = await depsFor(a, { policy, events: delayed })
    isPlanning = false
    deps.clock.advance(1_000)
    const result = attempt(deps, { stops })
    await settled(deps.clock)
    halt(stops)
    verdict.open({ verdict: 'send' })
    expect(await result).toBe('released')
    expect(a.sent).toEqual([])
    expect(await outcomes(deps)).toEqual(['a: queued 0'])
    expect(await waitForDue(deps)).toBe(0)
  })

  it('A second stop gives the channel no more time', async () => {
    const stops = swapRemoveList<() => void>()
    const own = await sending(ignoring, { stops })
    halt(stops)
    await pass(own.deps.clock, 500)
    halt(stops)
    await pass(own.deps.clock, 500)
    expect([await own.result, own.deps.clock.timers]).toEqual(['retried', 0])
  })

  it('An attempt stopped twice leaves no timer behind when the channel answers', async () => {
    const stops = swapRemoveList<() => void>()
    const answer = gate<SendOutcome>()
    const own = await sending(() => answer.promise, { stops })
    halt(stops)
    halt(stops)
    answer.open(SENT)
    expect([await own.result, own.deps.clock.timers]).toEqual(['sent', 0])
  })

  it('An ended attempt leaves no stop function with its worker', async () => {
    const stops = swapRemoveList<() => void>()
    const own = await sending(async () => SENT, { stops })
    await own.result
    expect([...stops]).toEqual([])
    expect([own.signal().aborted, own.deps.clock.timers]).toEqual([false, 0])
  })
})

describe('settleLeased', () => {
  const settlement = { deliveryId: 'd', fence: 'f', to: 'sent', attempt: SENT } as const

  /** Settles with a store that fails so many times; each wait passes at once. */
  async function settling(failures: number, leftMs: number) {
    const waits: number[] = []
    const contexts: object[] = []
    let now = 0
    let calls = 0
    const clock = {
      now: () => now,
      after(ms: number, run: () => void) {
        waits.push(ms)
        now += ms
        setImmediate(run)
        return () => {}
      },
    }
    const down = new Error('down')
    const settle = () => (calls++ < failures ? Promise.reject(down) : Promise.resolve({ live: true } as const))
    const logger = recordingLogger()
    const hooks = { onError: (_: unknown, context: object) => contexts.push(context) }
    const hold = { leftMs: () => leftMs - now }
    const settled = settleLeased(settlement, hold, { store: { settle } as never, clock, logger, hooks })
    const result = await settled.catch((error: unknown) => error)
    return { result, waits, contexts, lines: logger.lines, down }
  }

  it('settleLeased retries with exponential backoff, and reports each failure as one of the store', async () => {
    const { result, waits, contexts, lines } = await settling(4, 30_000)
    expect(result).toEqual({ live: true })
    expect(waits).toEqual([100, 200, 400, 800])
    expect(contexts).toEqual(Array(4).fill({ operation: 'store', deliveryId: 'd' }))
    expect(lines).toMatchObject(Array(4).fill({ level: 'warn', event: 'delivery.settle_retried' }))
  })

  it('settleLeased throws the error of the store when the next wait is as long as the rest of the lease', async () => {
    for (const [leftMs, tries] of [
      [700, 2],
      [701, 3],
    ] as const) {
      const { result, waits, down } = await settling(10, leftMs)
      expect([result, waits.length]).toEqual([down, tries])
    }
  })
})
