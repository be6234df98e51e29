import { describe, expect, it } from 'vitest'
import { MESSAGE_RETRIES } from '../../../src/core/delivery/retry-schedule.ts'
import { defineEvents } from '../../../src/core/dispatch/catalog/define-events.ts'
import type { OutboundMessage, SendOutcome } from '../../../src/ports/channel.ts'
import type { DispatchStore } from '../../../src/ports/dispatch-store.ts'
import { testDeps } from '../../support/deps.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { accepted, claimOne, outcomes } from '../dispatch/dispatching.ts'
import {
  attempt,
  attemptClaimed,
  BODY,
  delivery,
  depsFor,
  leased,
  pass,
  plain,
  settled,
  waitForDue,
} from './attempting.ts'

const SENT: SendOutcome = { outcome: 'sent' }
const BUSY: SendOutcome = { outcome: 'retry', code: 'busy' }

describe('an attempt', () => {
  it('An attempt gives the channel the accepted message and the number of the attempt', async () => {
    const a = recordingChannel()
    const recipients = { find: async (id: string) => ({ id, email: 'jane@example.com', locale: 'de-AT' }) }
    const deps = testDeps({ a }, { events: plain, recipients })
    await accepted(deps, { ...BODY, recipient: 'user_42' })
    expect(await attempt(deps)).toBe('sent')
    expect(a.sent).toEqual([
      {
        to: 'jane@example.com',
        content: { data: BODY.eventData },
        eventType: 'e',
        dispatchId: 'dsp_1',
        tenant: 'default',
        recipient: 'user_42',
        locale: 'de-AT',
        createdAt: deps.clock.now(),
        deliveryId: 'dlv_2',
        attempt: 1,
      },
    ])
  })

  it('A sent attempt stores the provider message id', async () => {
    const deps = await depsFor(recordingChannel([{ outcome: 'sent', providerMessageId: 'p1' }]))
    expect(await attempt(deps)).toBe('sent')
    const now = deps.clock.now()
    expect(await delivery(deps)).toMatchObject({
      status: 'sent',
      attempts: 1,
      attemptLog: [{ attempt: 1, startedAt: now, endedAt: now, outcome: 'sent', providerMessageId: 'p1' }],
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

  it('A delivery without a provider message id is stored as sent', async () => {
    const deps = await depsFor(recordingChannel([{ outcome: 'sent' }]))
    await attempt(deps)
    expect(await delivery(deps)).toMatchObject({ status: 'sent', attempts: 1 })
    expect(await delivery(deps)).not.toHaveProperty('providerMessageId')
  })

  it('A rejected attempt is the last one', async () => {
    const deps = await depsFor(recordingChannel([{ outcome: 'rejected', code: 'bad_address' }]))
    expect(await attempt(deps)).toBe('failed')
    expect(await delivery(deps)).toMatchObject({
      status: 'failed',
      reason: 'provider_rejected',
      attempts: 1,
      attemptLog: [{ attempt: 1, outcome: 'rejected', code: 'bad_address' }],
      lastCode: 'bad_address',
    })
    expect(deps.logger.lines).toMatchObject([
      { level: 'warn', event: 'delivery.failed', fields: { code: 'bad_address', attempt: 1 } },
    ])
  })

  it.each<SendOutcome>([
    { outcome: 'retry', code: 'busy' },
    { outcome: 'unknown', code: 'time_out' },
  ])('An attempt with the outcome $outcome is retried after the step of the schedule', async (outcome) => {
    const deps = await depsFor(recordingChannel([outcome], { retrySchedule: [10_000] }))
    expect(await attempt(deps)).toBe('retried')
    expect(await delivery(deps)).toMatchObject({ status: 'queued', attempts: 1, attemptLog: [outcome] })
    const { code } = outcome as { code: string }
    const { dueAt = 0 } = await delivery(deps)
    const delayMs = dueAt - deps.clock.now()
    expect(delayMs).toBeGreaterThanOrEqual(8_000)
    expect(delayMs).toBeLessThanOrEqual(12_000)
    expect(deps.logger.lines).toMatchObject([{ level: 'info', event: 'delivery.queued', fields: { code, delayMs } }])
  })

  it.each([
    [0, 8_000],
    [9_999, 9_999],
    [15_000, 15_000],
    [20_001, 20_001],
    [3_600_000.5, 3_600_001],
  ])(
    'A retryAfterMs of %d gives a delay of %d ms, plus at most the jitter of the step',
    async (retryAfterMs, delayMs) => {
      for (const outcome of ['retry', 'unknown'] as const) {
        const answer: SendOutcome = { outcome, code: 'busy', retryAfterMs }
        const deps = await depsFor(recordingChannel([answer], { retrySchedule: [10_000] }))
        await attempt(deps)
        const waitMs = await waitForDue(deps)
        expect(waitMs).toBeGreaterThanOrEqual(delayMs)
        expect(waitMs).toBeLessThanOrEqual(delayMs + 4_000)
      }
    },
  )

  it.each([3_600_000, Number.MAX_SAFE_INTEGER, 1e308, Number.POSITIVE_INFINITY])(
    'A retryAfterMs of %d, past the expiry, ends the delivery and keeps its code',
    async (retryAfterMs) => {
      const answer: SendOutcome = { outcome: 'retry', code: 'http_429', retryAfterMs }
      const deps = await depsFor(recordingChannel([answer], { retrySchedule: [10_000] }), { expiresInMs: 3_600_000 })
      expect(await attempt(deps)).toBe('failed')
      expect(await delivery(deps)).toMatchObject({
        ...{ status: 'failed', reason: 'attempts_exhausted', lastCode: 'http_429', attempts: 1 },
        attemptLog: [{ outcome: 'retry', code: 'http_429' }],
      })
    },
  )

  it('A delivery is attempted nine times over about half an hour, and then fails', async () => {
    const a = recordingChannel([{ outcome: 'retry', code: 'busy' }])
    const deps = await depsFor(a)
    const waits: number[] = []
    for (let round = 1; round < 9; round++) {
      expect(await attempt(deps)).toBe('retried')
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

  it('A channel without retries has one attempt', async () => {
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
    ['an outcome that does not exist', () => ({ outcome: 'delivered' })],
    ['an outcome in a list', () => [{ outcome: 'sent' }]],
    ['an outcome that is a list', () => ({ outcome: ['sent'] })],
    ['an outcome that cannot become text', () => ({ outcome: Object.create(null) })],
  ])('A channel that returns %s may have sent: it fails with channel_error, without a second send', async (_, give) => {
    const a = recordingChannel([async () => give() as SendOutcome], { retrySchedule: [1_000] })
    const deps = await depsFor(a)
    expect(await attempt(deps)).toBe('failed')
    expect(await delivery(deps)).toMatchObject({ attemptLog: [{ outcome: 'unknown', code: 'outcome_invalid' }] })
    expect(await outcomes(deps)).toEqual(['a: failed channel_error 1'])
    expect(a.sent).toHaveLength(1)
  })

  it('An unreadable outcome makes the held fallback follow', async () => {
    const a = recordingChannel([async () => 'sent' as never])
    const b = recordingChannel()
    const events = defineEvents({ e: { route: 'first', channels: { a: {}, b: {} } } })
    const deps = testDeps({ a, b }, { events })
    await accepted(deps, { eventType: 'e', recipient: 'jane@example.com' })
    expect(await attempt(deps)).toBe('failed')
    expect(await attempt(deps)).toBe('sent')
    expect(await outcomes(deps)).toEqual(['a: failed channel_error 1', 'b: sent 1'])
  })

  it.each<[string, () => Promise<SendOutcome>]>([
    [
      'throws synchronously',
      () => {
        throw Object.assign(new TypeError('jane@example.com: canary-7f3a'), { code: 'EAUTH' })
      },
    ],
    [
      'returns a rejected promise',
      async () => Promise.reject(Object.assign(new TypeError('canary-7f3a'), { code: 'EAUTH' })),
    ],
  ])('A channel that %s is retried with channel_error, and the log names the cause', async (_, send) => {
    const a = { address: () => 'jane@example.com', send, retrySchedule: [1_000] }
    const deps = await depsFor(a)
    expect(await attempt(deps)).toBe('retried')
    expect(deps.logger.lines).toMatchObject([
      {
        level: 'error',
        event: 'channel.threw',
        fields: { deliveryId: 'dlv_2', channel: 'a', attempt: 1, cause: 'TypeError', causeCode: 'EAUTH' },
      },
      { level: 'info', event: 'delivery.queued', fields: { code: 'channel_error' } },
    ])
    expect(await delivery(deps)).toMatchObject({ attemptLog: [{ outcome: 'retry', code: 'channel_error' }] })
    await waitForDue(deps)
    expect(await attempt(deps)).toBe('failed')
    expect(await outcomes(deps)).toEqual(['a: failed channel_error 2'])
    expect(JSON.stringify(deps.logger.lines)).not.toMatch(/canary|jane/)
  })

  it('A channel that throws a hostile proxy gives a channel_error', async () => {
    const fail = (): never => {
      throw new Error('canary-7f3a')
    }
    const untouchable = new Proxy({}, { get: fail, has: fail, getPrototypeOf: fail, ownKeys: fail })
    const deps = await depsFor({ address: () => 'jane@example.com', send: async () => Promise.reject(untouchable) })
    expect(await attempt(deps)).toBe('retried')
    expect(deps.logger.lines).toMatchObject([
      { event: 'channel.threw', fields: { deliveryId: 'dlv_2', cause: 'a thrown object' } },
      { event: 'delivery.queued', fields: { code: 'channel_error' } },
    ])
    expect(JSON.stringify(deps.logger.lines)).not.toContain('canary')
  })

  it('Each attempt passes the same content, whatever the channel does to it', async () => {
    const seen: string[] = []
    const mutate = async (message: OutboundMessage): Promise<SendOutcome> => {
      seen.push(JSON.stringify(message))
      const content = message.content as { data: { list: { a: number }[]; secret?: string } }
      content.data.list.push({ a: 2 })
      delete content.data.secret
      Object.assign(message.content, { more: true })
      Object.assign(message, { to: 'john@example.com', tenant: 'other' })
      return { outcome: 'retry', code: 'busy' }
    }
    const deps = await depsFor(recordingChannel([mutate]))
    for (let round = 0; round < 3; round++) {
      await attempt(deps)
      await waitForDue(deps)
    }
    expect(seen).toHaveLength(3)
    expect(new Set(seen).size).toBe(1)
  })

  it('Each attempt passes the same flat content', async () => {
    const seen: unknown[] = []
    const mutate = async ({ content }: OutboundMessage): Promise<SendOutcome> => {
      seen.push({ ...content })
      Object.assign(content, { text: 'spoilt' })
      return { outcome: 'retry', code: 'busy' }
    }
    const flat = defineEvents({ e: { channels: { a: { text: () => 'fine' } } } })
    const deps = await depsFor(recordingChannel([mutate]), { events: flat })
    for (let round = 0; round < 2; round++) {
      await attempt(deps)
      await waitForDue(deps)
    }
    expect(seen).toEqual([{ text: 'fine' }, { text: 'fine' }])
  })

  it('No attempt logs a recipient, content or token', async () => {
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

  it('A delivery that was cancelled meanwhile is not retried', async () => {
    const a = recordingChannel([{ outcome: 'retry', code: 'busy' }])
    const deps = await depsFor(a)
    const claimed = await claimOne(deps)
    await deps.store.cancel('default', claimed.dispatch.dispatchId)
    expect(await attemptClaimed(claimed, leased(deps), deps)).toBe('cancelled')
    expect(await outcomes(deps)).toEqual(['a: cancelled 1'])
    expect(deps.logger.lines).toMatchObject([{ level: 'info', event: 'delivery.cancelled', fields: { code: 'busy' } }])
  })

  it('A delivery is sent once while the store fails to settle a few times', async () => {
    const a = recordingChannel()
    const deps = await depsFor(a)
    let failures = 3
    const settle: DispatchStore['settle'] = (settlement) =>
      failures-- > 0 ? Promise.reject(new TypeError('jane')) : deps.store.settle(settlement)
    const result = attemptClaimed(await claimOne(deps), leased(deps), { ...deps, store: { ...deps.store, settle } })
    await settled(deps.clock)
    for (const waitMs of [99, 1, 200, 400]) {
      expect(await outcomes(deps)).toEqual(['a: sending 1'])
      await pass(deps.clock, waitMs)
    }
    expect(await result).toBe('sent')
    expect([a.sent.length, await outcomes(deps), deps.clock.timers]).toEqual([1, ['a: sent 1'], 0])
    const retried = {
      level: 'warn',
      event: 'delivery.settle_retried',
      fields: { deliveryId: 'dlv_2', cause: 'TypeError', stack: expect.any(String) },
    }
    expect(deps.logger.lines.slice(0, 3)).toEqual([retried, retried, retried])
  })

  it('An attempt throws the error of the store when it cannot be settled within the lease', async () => {
    const deps = await depsFor(recordingChannel())
    const claimed = await claimOne(deps)
    let asked = 0
    const settle = async (): Promise<never> => {
      asked++
      throw new Error('down')
    }
    const result = attemptClaimed(claimed, leased(deps), { ...deps, store: { ...deps.store, settle } })
    const outcome = result.catch(({ message }: Error) => message)
    for (let second = 0; second < 30; second++) await pass(deps.clock, 1_000)
    expect([await outcome, asked > 5, deps.clock.timers]).toEqual(['down', true, 0])
  })
})

describe('outcomes of a channel', () => {
  it.each(['ses', 'x'.repeat(64), 'a/b:c'])('The provider name %s is stored', async (provider) => {
    for (const outcome of [
      { ...SENT, provider },
      { ...BUSY, provider },
      { outcome: 'rejected', code: 'no', provider },
    ]) {
      const deps = await depsFor(recordingChannel([outcome as SendOutcome]))
      await attempt(deps)
      expect(await delivery(deps)).toMatchObject({ attemptLog: [{ provider }] })
    }
  })

  it.each(['', 'x'.repeat(65), 'two words', 'a\n', 'ä', 7, null])(
    'The invalid provider name %j is dropped',
    async (provider) => {
      const deps = await depsFor(recordingChannel([{ ...SENT, provider: provider as string }]))
      expect(await attempt(deps)).toBe('sent')
      expect((await delivery(deps)).attemptLog[0]).not.toHaveProperty('provider')
    },
  )

  it.each(['10', 10n, null, {}])('A retryAfterMs of %s is ignored', async (retryAfterMs) => {
    const answer = { ...BUSY, retryAfterMs: retryAfterMs as never }
    const [given, none] = await Promise.all([answer, BUSY].map((outcome) => depsFor(recordingChannel([outcome]))))
    for (const deps of [given, none]) if (deps) expect(await attempt(deps)).toBe('retried')
    expect(given && (await delivery(given)).dueAt).toBe(none && (await delivery(none)).dueAt)
  })

  it('An invalid code of a channel is stored as code_invalid', async () => {
    const outcome = { outcome: 'rejected', code: 'Mailbox jane@example.com is full' } as const
    const deps = await depsFor(recordingChannel([outcome]))
    expect(await attempt(deps)).toBe('failed')
    expect(await delivery(deps)).toMatchObject({ lastCode: 'code_invalid' })
    expect(JSON.stringify(deps.logger.lines)).not.toContain('jane@')
  })

  it('A provider message id must be a short string', async () => {
    const outcome = { outcome: 'sent', providerMessageId: (() => 1) as never } as const
    const deps = await depsFor(recordingChannel([outcome]))
    expect(await attempt(deps)).toBe('sent')
    expect(await delivery(deps)).not.toHaveProperty('providerMessageId')
  })
})
