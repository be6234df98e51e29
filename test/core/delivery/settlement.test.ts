import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { DeliveryEvent } from '../../../src/core/hooks.ts'
import type { OutboundMessage, SendContext, SendOutcome } from '../../../src/ports/channel.ts'
import type { DispatchStore, Settlement } from '../../../src/ports/dispatch-store.ts'
import { testDeps } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { accepted, claimOne, outcomes } from '../dispatch/dispatching.ts'
import { attempt, attemptClaimed, BODY, delivery, depsFor, LEASE, leased, waitForDue } from './attempting.ts'

const SENT: SendOutcome = { outcome: 'sent' }
const BUSY: SendOutcome = { outcome: 'retry', code: 'busy' }

describe('a delivery that is not sent', () => {
  it('A delivery of an unknown channel waits a minute and counts no attempt', async () => {
    const deps = await depsFor(recordingChannel())
    const claimed = await claimOne(deps)
    expect(await attemptClaimed(claimed, leased(deps), { ...deps, channels: {} })).toBe('released')
    expect(await delivery(deps)).toMatchObject({
      status: 'queued',
      attempts: 0,
      attemptLog: [],
      dueAt: deps.clock.now() + 60_000,
    })
    expect(deps.logger.lines.map(({ event }) => event)).toEqual(['delivery.channel_unknown', 'delivery.queued'])
  })

  it('A delivery fails when it has crashed as many workers as it has attempts', async () => {
    const a = recordingChannel([SENT], { retrySchedule: [1_000] })
    const deps = await depsFor(a)
    for (let crash = 0; crash < 2; crash++) {
      await claimOne(deps, LEASE)
      deps.clock.advance(LEASE)
    }
    expect(await attempt(deps)).toBe('failed')
    expect(a.sent).toEqual([])
    expect(await outcomes(deps)).toEqual(['a: failed attempts_exhausted 2'])
    expect((await delivery(deps)).attemptLog.map(({ outcome }) => outcome)).toEqual([undefined, undefined])
  })

  it('A delivery whose lease expired in its first attempt is sent in the last one of its schedule', async () => {
    const a = recordingChannel([SENT], { retrySchedule: [1_000] })
    const deps = await depsFor(a)
    await claimOne(deps, LEASE)
    deps.clock.advance(LEASE)
    expect(await attempt(deps)).toBe('sent')
  })
})

describe('a retry by hand', () => {
  it('A retry by hand restarts the schedule and continues the count', async () => {
    const a = recordingChannel([BUSY], { retrySchedule: [1_000, 50_000] })
    const deps = await depsFor(a)
    for (let round = 0; round < 2; round++) {
      expect(await attempt(deps)).toBe('retried')
      await waitForDue(deps)
    }
    expect(await attempt(deps)).toBe('failed')
    const { dispatchId } = (await deps.store.listDispatches({ tenant: 'default', limit: 1 })).items[0] ?? {}
    await deps.store.retry('default', dispatchId ?? '', { expiresInMs: 3_600_000 })
    const waits: number[] = []
    for (let round = 0; round < 2; round++) {
      expect(await attempt(deps)).toBe('retried')
      waits.push(await waitForDue(deps))
    }
    expect(waits[0]).toBeLessThanOrEqual(1_200)
    expect(waits[1]).toBeGreaterThanOrEqual(40_000)
    expect(await attempt(deps)).toBe('failed')
    expect(a.sent.map(({ attempt: at }) => at)).toEqual([1, 2, 3, 4, 5, 6])
  })
})

describe('the expiry', () => {
  it.each([
    [15_001, 'retried'],
    [15_000, 'failed'],
  ])('With an expiry of %d ms, an attempt with a retryAfterMs of 15,000 is %s', async (expiresInMs, result) => {
    const answer: SendOutcome = { ...BUSY, retryAfterMs: 15_000 }
    const deps = await depsFor(recordingChannel([answer], { retrySchedule: [10_000] }), { expiresInMs })
    expect(await attempt(deps)).toBe(result)
    if (result === 'failed') expect(await outcomes(deps)).toEqual(['a: failed attempts_exhausted 1'])
  })

  it('The expiry is measured from the claim', async () => {
    const slow = recordingChannel(
      [
        async () => {
          deps.clock.advance(2_000)
          return { ...BUSY, retryAfterMs: 15_000 }
        },
      ],
      { retrySchedule: [10_000] },
    )
    const deps = await depsFor(slow, { expiresInMs: 17_000 })
    expect(await attempt(deps)).toBe('failed')
  })

  it('A delivery whose channel threw before the expiry fails with channel_error', async () => {
    const deps = await depsFor(recordingChannel([() => Promise.reject(new Error())]), { expiresInMs: 500 })
    expect(await attempt(deps)).toBe('failed')
    expect(await outcomes(deps)).toEqual(['a: failed channel_error 1'])
  })

  it('The expiry does not interrupt an attempt in flight', async () => {
    const deps = await depsFor(recordingChannel(), { expiresInMs: 500 })
    const claimed = await claimOne(deps, LEASE)
    deps.clock.advance(1_000)
    expect(await attemptClaimed(claimed, leased(deps), deps)).toBe('sent')
  })
})

describe('the settlement', () => {
  it.each<[string, SendOutcome, readonly number[], object]>([
    ['sent', { ...SENT, providerMessageId: 'p1', provider: 'ses' }, [], { to: 'sent' }],
    ['rejected', { outcome: 'rejected', code: 'no' }, [1_000], { to: 'failed', reason: 'provider_rejected' }],
    ['retry', BUSY, [0], { to: 'queued', delayMs: 0 }],
    ['unknown', { outcome: 'unknown', code: 'time_out' }, [], { to: 'failed', reason: 'attempts_exhausted' }],
  ])(
    'The settlement of the outcome %s holds the end of the attempt and no other facts',
    async (_, outcome, retrySchedule, rest) => {
      const deps = await depsFor(recordingChannel([outcome], { retrySchedule }))
      const settlements: Settlement[] = []
      const settle: DispatchStore['settle'] = (settlement) => {
        settlements.push(settlement)
        return deps.store.settle(settlement)
      }
      const claimed = await claimOne(deps)
      await attemptClaimed(claimed, leased(deps), { ...deps, store: { ...deps.store, settle } })
      const { deliveryId, fence } = claimed
      expect(settlements).toEqual([{ deliveryId, fence, attempt: outcome, ...rest }])
    },
  )
})

describe('a refusal by the channel', () => {
  it.each([
    ['channel', 'channel_rejected'],
    [undefined, 'provider_rejected'],
    ['provider' as 'channel', 'provider_rejected'],
  ] as const)('A delivery that is rejected by %s fails with %s, without a retry', async (by, reason) => {
    const deps = await depsFor(recordingChannel([{ outcome: 'rejected', code: 'no', ...(by && { by }) }]))
    expect(await attempt(deps)).toBe('failed')
    expect(await outcomes(deps)).toEqual([`a: failed ${reason} 1`])
  })
})

describe('the context of an attempt', () => {
  it('An attempt receives the history, in which a lost attempt has no outcome', async () => {
    const seen: SendContext['history'][] = []
    const note = async (_: OutboundMessage, { history }: SendContext): Promise<SendOutcome> => {
      seen.push(history)
      return BUSY
    }
    const deps = await depsFor(recordingChannel([note]))
    const startedAt = deps.clock.now()
    await attempt(deps)
    await waitForDue(deps)
    await claimOne(deps, LEASE)
    deps.clock.advance(LEASE)
    await attempt(deps)
    expect(seen).toEqual([
      [],
      [
        { attempt: 1, startedAt, endedAt: startedAt, outcome: 'retry', code: 'busy' },
        { attempt: 2, startedAt: expect.any(Number) },
      ],
    ])
  })
})

describe('hooks', () => {
  const both = defineEvents({ e: { route: 'first', channels: { a: {}, b: {} } } })

  async function reported(answers: readonly SendOutcome[]): Promise<readonly (readonly [string, DeliveryEvent])[]> {
    const seen: (readonly [string, DeliveryEvent])[] = []
    const note = (name: string) => async (event: DeliveryEvent) => {
      await Promise.resolve()
      seen.push([name, event])
    }
    const hooks = { onSent: note('sent'), onFailed: note('failed'), onSkipped: note('skipped') }
    const channels = { a: recordingChannel(answers, { retrySchedule: [1_000] }), b: recordingChannel() }
    const deps = testDeps(channels, { events: both, hooks })
    await accepted(deps, { ...BODY, sessionId: 's1' })
    for (const _ of answers) {
      await attempt(deps)
      deps.clock.advance(2_000)
    }
    return seen
  }

  const head = {
    dispatchId: 'dsp_1',
    tenant: 'default',
    eventType: 'e',
    recipient: 'jane@example.com',
    sessionId: 's1',
  }

  it('Hooks are called, before the attempt is over, for the sent delivery and for those it skipped', async () => {
    expect(await reported([{ ...SENT, providerMessageId: 'p1' }])).toEqual([
      ['sent', { ...head, deliveryId: 'dlv_2', channel: 'a', status: 'sent', attempts: 1, providerMessageId: 'p1' }],
      [
        'skipped',
        { ...head, deliveryId: 'dlv_3', channel: 'b', status: 'skipped', reason: 'fallback_unneeded', attempts: 0 },
      ],
    ])
  })

  it('onFailed receives the last code; promotions and retries call no hook', async () => {
    expect(await reported([BUSY, { outcome: 'rejected', code: 'no' }])).toEqual([
      [
        'failed',
        {
          ...head,
          deliveryId: 'dlv_2',
          channel: 'a',
          status: 'failed',
          reason: 'provider_rejected',
          attempts: 2,
          lastCode: 'no',
        },
      ],
    ])
  })

  it('onSent receives the last error code', async () => {
    const [first] = await reported([BUSY, SENT])
    expect(first).toMatchObject(['sent', { attempts: 2, lastCode: 'busy' }])
  })

  it('A worker that lost its lease calls no hook', async () => {
    const seen: unknown[] = []
    const deps = await depsFor(recordingChannel(), { hooks: { onSent: (event) => seen.push(event) } })
    const zombie = await claimOne(deps, LEASE)
    deps.clock.advance(LEASE)
    await claimOne(deps, LEASE)
    expect(await attemptClaimed(zombie, leased(deps), deps)).toBe('lost')
    expect(seen).toEqual([])
  })

  it('Hooks receive no attempt of an unsent delivery', async () => {
    const seen: DeliveryEvent[] = []
    const once = recordingChannel([], { retrySchedule: [] })
    const deps = await depsFor(once, { hooks: { onFailed: (event) => seen.push(event) } })
    const claimed = await claimOne(deps)
    await attemptClaimed({ ...claimed, attempts: 2 }, leased(deps), deps)
    expect(seen).toMatchObject([{ status: 'failed', reason: 'attempts_exhausted', attempts: 1 }])
  })
})
