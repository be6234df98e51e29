import { describe, expect, it } from 'vitest'
import { type AttemptResult, attemptDelivery } from '../../src/core/dispatch/attempt-delivery.ts'
import { defineEvents } from '../../src/core/dispatch/define-events.ts'
import { MESSAGE_RETRIES } from '../../src/core/dispatch/retry-schedule.ts'
import type { Delivery } from '../../src/model/dispatch.ts'
import type { Channel, OutboundMessage, SendOutcome } from '../../src/ports/channel.ts'
import { type TestDeps, testDeps } from '../support/deps.ts'
import { recordingChannel } from '../support/recording-channel.ts'
import { accepted, claimOne, gate, outcomes, stored } from './dispatching.ts'

const LEASE = 30_000

/** A lease that begins now. */
const leased = ({ clock }: Pick<TestDeps, 'clock'>) => ({ since: clock.now(), ms: LEASE })
const BODY = { eventType: 'e', recipient: 'jane@example.com', eventData: { secret: 'canary-7f3a', list: [{ a: 1 }] } }
const events = defineEvents({ e: { channels: { a: {} } } })

/** One delivery on channel `a`, due now. */
async function depsFor(a: Channel, rest = {}): Promise<TestDeps> {
  const deps = testDeps({ a }, { events, ...rest })
  await accepted(deps, BODY)
  return deps
}

async function attempt(deps: TestDeps): Promise<AttemptResult> {
  return attemptDelivery(await claimOne(deps, LEASE), leased(deps), deps)
}

async function delivery(deps: TestDeps): Promise<Omit<Delivery, 'address' | 'content'>> {
  const [found] = (await stored(deps))[0]?.deliveries ?? []
  if (!found) throw new Error('nothing is stored')
  const { address: _, content: __, ...rest } = found
  return rest
}

/** Moves the clock to when the delivery is due again; gives how long that was. */
async function waitForDue(deps: TestDeps): Promise<number> {
  const { nextDueInMs = 0 } = await deps.store.claim({ limit: 0, leaseMs: LEASE, channels: ['a'] })
  deps.clock.advance(nextDueInMs)
  return nextDueInMs
}

describe('an attempt', () => {
  it('gives the channel the message that was accepted, and its place in the attempts', async () => {
    const a = recordingChannel()
    const recipients = { find: async (id: string) => ({ id, email: 'jane@example.com', locale: 'de-AT' }) }
    const deps = testDeps({ a }, { events, recipients })
    await accepted(deps, { ...BODY, recipient: 'user_42' })
    expect(await attempt(deps)).toBe('sent')
    expect(a.sent).toEqual([
      {
        to: 'jane@example.com',
        content: { data: BODY.eventData },
        eventType: 'e',
        dispatchId: 'dsp_1',
        tenant: 'default',
        locale: 'de-AT',
        createdAt: deps.clock.now(),
        deliveryId: 'dlv_2',
        attempt: 1,
      },
    ])
  })

  it('that sends is written down with what the provider calls it', async () => {
    const deps = await depsFor(recordingChannel([{ outcome: 'sent', providerMessageId: 'p1' }]))
    expect(await attempt(deps)).toBe('sent')
    expect(await delivery(deps)).toEqual({
      deliveryId: 'dlv_2',
      channel: 'a',
      status: 'sent',
      attempts: 1,
      providerMessageId: 'p1',
    })
    expect(deps.logger.lines).toEqual([
      {
        level: 'info',
        event: 'delivery.sent',
        fields: { deliveryId: 'dlv_2', dispatchId: 'dsp_1', channel: 'a', attempt: 1 },
      },
    ])
  })

  it('that sends without a name for it is sent all the same', async () => {
    const deps = await depsFor(recordingChannel([{ outcome: 'sent' }]))
    await attempt(deps)
    expect(await delivery(deps)).toEqual({ deliveryId: 'dlv_2', channel: 'a', status: 'sent', attempts: 1 })
  })

  it('that is rejected is the last', async () => {
    const deps = await depsFor(recordingChannel([{ outcome: 'rejected', code: 'bad_address' }]))
    expect(await attempt(deps)).toBe('failed')
    expect(await delivery(deps)).toEqual({
      deliveryId: 'dlv_2',
      channel: 'a',
      status: 'failed',
      reason: 'provider_rejected',
      attempts: 1,
      lastCode: 'bad_address',
    })
    expect(deps.logger.lines).toMatchObject([
      { level: 'warn', event: 'delivery.failed', fields: { code: 'bad_address', attempt: 1 } },
    ])
  })

  it.each<SendOutcome>([
    { outcome: 'retry', code: 'busy' },
    { outcome: 'unknown', code: 'time_out' },
  ])('that gives $outcome is made again after the step', async (outcome) => {
    const deps = await depsFor(recordingChannel([outcome], { retrySchedule: [10_000] }))
    expect(await attempt(deps)).toBe('queued')
    const { dueAt = 0, ...rest } = await delivery(deps)
    const { code } = outcome as { code: string }
    expect(rest).toEqual({ deliveryId: 'dlv_2', channel: 'a', status: 'queued', attempts: 1, lastCode: code })
    const delayMs = dueAt - deps.clock.now()
    expect(delayMs).toBeGreaterThanOrEqual(8_000)
    expect(delayMs).toBeLessThanOrEqual(12_000)
    expect(deps.logger.lines).toMatchObject([{ level: 'info', event: 'delivery.queued', fields: { code, delayMs } }])
  })

  it.each([
    [0, 10_000],
    [9_999, 10_000],
    [15_000, 15_000],
    [20_001, 20_000],
    [Number.POSITIVE_INFINITY, 20_000],
  ])('after which the provider asks for %d ms is made again after %d', async (retryAfterMs, delayMs) => {
    const answer: SendOutcome = { outcome: 'retry', code: 'busy', retryAfterMs }
    const deps = await depsFor(recordingChannel([answer], { retrySchedule: [10_000] }))
    await attempt(deps)
    expect((await delivery(deps)).dueAt).toBe(deps.clock.now() + delayMs)
  })

  it('is made nine times over about half an hour, and then no more', async () => {
    const a = recordingChannel([{ outcome: 'retry', code: 'busy' }])
    const deps = await depsFor(a)
    const waits: number[] = []
    for (let round = 1; round < 9; round++) {
      expect(await attempt(deps)).toBe('queued')
      waits.push(await waitForDue(deps))
    }
    expect(await attempt(deps)).toBe('failed')
    for (const [at, wait] of waits.entries()) {
      const step = MESSAGE_RETRIES[at] ?? 0
      expect(wait).toBeGreaterThanOrEqual(step * 0.8)
      expect(wait).toBeLessThanOrEqual(step * 1.2)
    }
    expect(a.sent.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    expect(new Set(a.sent.map(({ deliveryId }) => deliveryId))).toEqual(new Set(['dlv_2']))
    expect(await outcomes(deps)).toEqual(['a: failed attempts_exhausted 9'])
    expect(await delivery(deps)).toMatchObject({ lastCode: 'busy' })
  })

  it('is the only one where the channel has no retries', async () => {
    const deps = await depsFor(recordingChannel([{ outcome: 'unknown', code: 'time_out' }], { retrySchedule: [] }))
    expect(await attempt(deps)).toBe('failed')
    expect(await outcomes(deps)).toEqual(['a: failed attempts_exhausted 1'])
  })

  it.each<[string, () => unknown]>([
    ['null', () => null],
    ['undefined', () => undefined],
    ['true', () => true],
    ['a string', () => 'sent'],
    ['no outcome', () => ({})],
    ['an outcome there is not', () => ({ outcome: 'delivered' })],
    ['an outcome in a list', () => [{ outcome: 'sent' }]],
    ['an outcome that is a list', () => ({ outcome: ['sent'] })],
    ['an outcome that has no text', () => ({ outcome: Object.create(null) })],
  ])('for which the channel gives %s is a channel_error, made again and failed as such in the end', async (_, give) => {
    const a = recordingChannel([async () => give() as SendOutcome], { retrySchedule: [1_000] })
    const deps = await depsFor(a)
    expect(await attempt(deps)).toBe('queued')
    expect(await delivery(deps)).toMatchObject({ lastCode: 'channel_error' })
    await waitForDue(deps)
    expect(await attempt(deps)).toBe('failed')
    expect(await outcomes(deps)).toEqual(['a: failed channel_error 2'])
  })

  it.each<[string, () => Promise<SendOutcome>]>([
    [
      'throws at once',
      () => {
        throw Object.assign(new TypeError('jane@example.com: canary-7f3a'), { code: 'EAUTH' })
      },
    ],
    [
      'gives a rejected promise',
      async () => Promise.reject(Object.assign(new TypeError('canary-7f3a'), { code: 'EAUTH' })),
    ],
  ])('for which the channel %s is a channel_error, its cause named in the log', async (_, send) => {
    const a = { address: () => 'jane@example.com', send, retrySchedule: [1_000] }
    const deps = await depsFor(a)
    expect(await attempt(deps)).toBe('queued')
    expect(deps.logger.lines).toMatchObject([
      {
        level: 'error',
        event: 'channel.threw',
        fields: { deliveryId: 'dlv_2', channel: 'a', attempt: 1, cause: 'TypeError', causeCode: 'EAUTH' },
      },
      { level: 'info', event: 'delivery.queued', fields: { code: 'channel_error' } },
    ])
    await waitForDue(deps)
    expect(await attempt(deps)).toBe('failed')
    expect(await outcomes(deps)).toEqual(['a: failed channel_error 2'])
    expect(JSON.stringify(deps.logger.lines)).not.toMatch(/canary|jane/)
  })

  it('for a channel that is gone is made again later', async () => {
    const deps = await depsFor(recordingChannel())
    const claimed = await claimOne(deps)
    expect(await attemptDelivery(claimed, leased(deps), { ...deps, channels: {} })).toBe('queued')
    expect(await delivery(deps)).toMatchObject({ lastCode: 'not_attempted' })
  })

  it('passes the same content every time, whatever the channel does to it', async () => {
    const seen: string[] = []
    const spoil = async (message: OutboundMessage): Promise<SendOutcome> => {
      seen.push(JSON.stringify(message))
      const content = message.content as { data: { list: { a: number }[]; secret?: string } }
      content.data.list.push({ a: 2 })
      delete content.data.secret
      Object.assign(message.content, { more: true })
      Object.assign(message, { to: 'john@example.com', tenant: 'other' })
      return { outcome: 'retry', code: 'busy' }
    }
    const deps = await depsFor(recordingChannel([spoil]))
    for (let round = 0; round < 3; round++) {
      await attempt(deps)
      await waitForDue(deps)
    }
    expect(seen).toHaveLength(3)
    expect(new Set(seen).size).toBe(1)
  })

  it('passes the same flat content every time too', async () => {
    const seen: unknown[] = []
    const spoil = async ({ content }: OutboundMessage): Promise<SendOutcome> => {
      seen.push({ ...content })
      Object.assign(content, { text: 'spoilt' })
      return { outcome: 'retry', code: 'busy' }
    }
    const flat = defineEvents({ e: { channels: { a: { text: () => 'fine' } } } })
    const deps = await depsFor(recordingChannel([spoil]), { events: flat })
    for (let round = 0; round < 2; round++) {
      await attempt(deps)
      await waitForDue(deps)
    }
    expect(seen).toEqual([{ text: 'fine' }, { text: 'fine' }])
  })

  it('writes no recipient, content or token to the log, however it ends', async () => {
    const answers: SendOutcome[] = [
      { outcome: 'retry', code: 'busy' },
      { outcome: 'unknown', code: 'time_out' },
      { outcome: 'sent', providerMessageId: 'p1' },
    ]
    const deps = await depsFor(recordingChannel(answers))
    for (let round = 0; round < 3; round++) {
      await attempt(deps)
      await waitForDue(deps)
    }
    expect(deps.logger.lines).toHaveLength(3)
    expect(JSON.stringify(deps.logger.lines)).not.toMatch(/canary|jane|example\.com/)
  })

  it('throws what the store throws when it is to be written down', async () => {
    const deps = await depsFor(recordingChannel())
    const claimed = await claimOne(deps)
    const store = { settle: async () => Promise.reject(new Error('down')) }
    await expect(attemptDelivery(claimed, leased(deps), { ...deps, store })).rejects.toThrow('down')
  })
})

describe('what a channel says', () => {
  it('is taken for a code only when it is one', async () => {
    const said = { outcome: 'rejected', code: 'Mailbox jane@example.com is full' } as const
    const deps = await depsFor(recordingChannel([said]))
    expect(await attempt(deps)).toBe('failed')
    expect(await delivery(deps)).toMatchObject({ lastCode: 'code_invalid' })
    expect(JSON.stringify(deps.logger.lines)).not.toContain('jane@')
  })

  it('is taken for a message id only when it is a short string', async () => {
    const said = { outcome: 'sent', providerMessageId: (() => 1) as never } as const
    const deps = await depsFor(recordingChannel([said]))
    expect(await attempt(deps)).toBe('sent')
    expect(await delivery(deps)).not.toHaveProperty('providerMessageId')
  })
})

describe('a lease', () => {
  it('counts the attempt when it is claimed, though nothing is ever settled', async () => {
    const deps = await depsFor(recordingChannel())
    expect(await claimOne(deps)).toMatchObject({ attempts: 1 })
    expect(await outcomes(deps)).toEqual(['a: sending 1'])
    deps.clock.advance(LEASE)
    expect(await claimOne(deps)).toMatchObject({ attempts: 2 })
    expect(await outcomes(deps)).toEqual(['a: sending 2'])
  })

  it('holds to the millisecond, and then goes to another under another fence', async () => {
    const deps = await depsFor(recordingChannel())
    const first = await claimOne(deps, LEASE)
    deps.clock.advance(LEASE - 1)
    expect(await deps.store.claim({ limit: 10, leaseMs: LEASE, channels: ['a'] })).toEqual({
      deliveries: [],
      nextDueInMs: 1,
    })
    deps.clock.advance(1)
    const second = await claimOne(deps, LEASE)
    expect(second.deliveryId).toBe(first.deliveryId)
    expect(second.fence).not.toBe(first.fence)
  })

  it('that has gone to another lets the first write nothing, and says so in the log', async () => {
    const a = recordingChannel([{ outcome: 'rejected', code: 'bad_address' }, { outcome: 'sent' }])
    const deps = await depsFor(a)
    const zombie = await claimOne(deps, LEASE)
    deps.clock.advance(LEASE)
    const live = await claimOne(deps, LEASE)
    const before = await stored(deps)
    expect(await attemptDelivery(zombie, leased(deps), deps)).toBe('lost')
    expect(await stored(deps)).toEqual(before)
    expect(deps.logger.lines).toMatchObject([
      { level: 'warn', event: 'delivery.lease_lost', fields: { deliveryId: 'dlv_2', attempt: 1 } },
    ])
    expect(await attemptDelivery(live, leased(deps), deps)).toBe('sent')
    const after = await stored(deps)
    expect(await attemptDelivery(zombie, leased(deps), deps)).toBe('lost')
    expect(await stored(deps)).toEqual(after)
  })

  it('aborts the signal at nine tenths, and the attempt ends though the channel never does', async () => {
    let signal: AbortSignal | undefined
    const a = recordingChannel([
      (_, context) => {
        signal = context.signal
        return new Promise(() => {})
      },
    ])
    const deps = await depsFor(a)
    const claimed = await claimOne(deps, LEASE)
    const result = attemptDelivery(claimed, leased(deps), deps)
    deps.clock.advance(LEASE * 0.9 - 1)
    expect(signal?.aborted).toBe(false)
    deps.clock.advance(1)
    expect(signal?.aborted).toBe(true)
    expect(await result).toBe('queued')
    expect(await delivery(deps)).toMatchObject({ status: 'queued', attempts: 1, lastCode: 'lease_ending' })
  })

  it('takes no notice of a channel that answers, or fails, after its end', async () => {
    for (const late of [{ outcome: 'sent' }, undefined] as const) {
      const answer = gate<SendOutcome>()
      const deps = await depsFor(recordingChannel([() => answer.promise]))
      const claimed = await claimOne(deps, LEASE)
      const result = attemptDelivery(claimed, leased(deps), deps)
      deps.clock.advance(LEASE)
      await result
      const before = await stored(deps)
      answer.open(late ?? (Promise.reject(new Error('late')) as unknown as SendOutcome))
      await new Promise(setImmediate)
      expect(await stored(deps)).toEqual(before)
    }
  })

  it('leaves no timer and an untouched signal behind when the channel answers in time', async () => {
    let signal: AbortSignal | undefined
    const a = recordingChannel([
      async (_, context) => {
        signal = context.signal
        return { outcome: 'sent' }
      },
    ])
    const deps = await depsFor(a)
    await attempt(deps)
    expect(deps.clock.timers).toBe(0)
    deps.clock.advance(LEASE)
    expect(signal?.aborted).toBe(false)
  })

  it('is not given for ever to what kills its worker: when the attempts are used up it fails unsent', async () => {
    const a = recordingChannel([{ outcome: 'sent' }], { retrySchedule: [1_000] })
    const deps = await depsFor(a)
    for (let crash = 0; crash < 2; crash++) {
      await claimOne(deps, LEASE)
      deps.clock.advance(LEASE)
    }
    expect(await attempt(deps)).toBe('failed')
    expect(a.sent).toEqual([])
    expect((await outcomes(deps))[0]).toMatch(/^a: failed attempts_exhausted/)
  })
})

describe('the expiry', () => {
  it('is 72 hours to the millisecond', async () => {
    for (const [ms, status] of [
      [72 * 3_600_000 - 1, 'sending 1'],
      [72 * 3_600_000, 'expired 0'],
    ] as const) {
      const deps = await depsFor(recordingChannel())
      deps.clock.advance(ms)
      await deps.store.claim({ limit: 1, leaseMs: LEASE, channels: ['a'] })
      expect(await outcomes(deps)).toEqual([`a: ${status}`])
    }
  })

  it('is what the host says', async () => {
    const deps = await depsFor(recordingChannel(), { expiresInMs: 1_000 })
    deps.clock.advance(1_000)
    expect((await deps.store.claim({ limit: 1, leaseMs: LEASE, channels: ['a'] })).deliveries).toEqual([])
    expect(await outcomes(deps)).toEqual(['a: expired 0'])
  })

  it('ends what waits for another attempt, and what a dead worker held', async () => {
    const retried = await depsFor(recordingChannel([{ outcome: 'retry', code: 'busy' }]), { expiresInMs: 500 })
    await attempt(retried)
    const abandoned = await depsFor(recordingChannel(), { expiresInMs: 500 })
    await claimOne(abandoned, LEASE)
    for (const deps of [retried, abandoned]) {
      deps.clock.advance(LEASE)
      await deps.store.claim({ limit: 1, leaseMs: LEASE, channels: ['a'] })
      expect(await outcomes(deps)).toEqual(['a: expired 1'])
    }
  })

  it('does not undo an attempt that is under way', async () => {
    const deps = await depsFor(recordingChannel(), { expiresInMs: 500 })
    const claimed = await claimOne(deps, LEASE)
    deps.clock.advance(1_000)
    expect(await attemptDelivery(claimed, leased(deps), deps)).toBe('sent')
  })
})
