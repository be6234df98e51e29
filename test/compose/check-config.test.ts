import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/compose/check-config.ts'
import type { SallyportOptions } from '../../src/compose/options.ts'
import { defineEvents } from '../../src/core/dispatch/catalog/define-events.ts'
import { type ConfigProblem, isSallyportError } from '../../src/errors.ts'
import { allOf } from '../../src/policies/all-of.ts'
import { quietHours } from '../../src/policies/quiet-hours.ts'
import { throttle } from '../../src/policies/throttle.ts'
import type { Channel } from '../../src/ports/channel.ts'
import { memoryStore } from '../../src/storage/memory/index.ts'
import { testAuth } from '../support/deps.ts'
import { recordingChannel } from '../support/recording-channel.ts'

const events = defineEvents({ one: { channels: { email: { subject: () => 'x' }, sms: { text: () => 'x' } } } })

function problems(
  channels: Readonly<Record<string, Channel>>,
  rest: Partial<SallyportOptions<unknown>> = {},
): readonly ConfigProblem[] {
  try {
    readConfig({ auth: testAuth, store: memoryStore(), events, channels, ...rest })
  } catch (error) {
    if (!isSallyportError(error)) throw error
    expect(error.code).toBe('config_invalid')
    expect(error.message).toMatch(/^Sallyport cannot start:\n {2}- /)
    return error.problems
  }
  return []
}

const scheduled = (retrySchedule: readonly number[]) => Object.assign(recordingChannel(), { retrySchedule })

describe('readConfig', () => {
  it('readConfig accepts the channels that events use, and additional ones', () => {
    expect(problems({ email: recordingChannel(), sms: recordingChannel(), push: recordingChannel() })).toEqual([])
  })

  it('readConfig reports every event whose channel is not configured, with the configured ones', () => {
    expect(problems({ push: recordingChannel() })).toEqual([
      { event: 'one', channel: 'email', detail: 'is not configured; the channels are: push' },
      { event: 'one', channel: 'sms', detail: 'is not configured; the channels are: push' },
    ])
    expect(problems({})[0]?.detail).toBe('is not configured; the channels are: none')
  })

  it('readConfig does not accept an inherited name as a channel', () => {
    const odd = defineEvents({ one: { channels: { toString: {} } } })
    expect(() =>
      readConfig({ auth: testAuth, store: memoryStore(), events: odd, channels: { email: recordingChannel() } }),
    ).toThrow('event "one", channel "toString": is not configured')
  })

  it('readConfig reports every option that is missing, not called, or unknown', () => {
    const odd = {
      auth: undefined,
      store: memoryStore,
      recipients: () => ({}),
      sessions: 'must_exist',
      recipient: {},
      clock: {},
    } as never
    expect(problems({ email: recordingChannel(), sms: {} as never }, odd)).toEqual([
      { field: 'recipient', detail: 'is not an option; near: recipients' },
      {
        field: 'auth',
        detail: 'is undefined; pass appSecrets(…), sessionTokens(…), anyOf(…) or an object { verify(token) }',
      },
      { field: 'sessions', detail: 'is "must_exist"; must be one of create, must-exist' },
      { field: 'clock', detail: 'has no now, after; pass fakeClock() of sallyport/testing, or leave it out' },
      {
        field: 'store',
        detail: expect.stringMatching(/^is a function: must it be called\? Pass memoryStore\(\), /),
      },
      {
        field: 'channels.sms',
        detail:
          'has no address, send; pass a channel such as email(…), or an object { address(recipient), send(message) }',
      },
      { field: 'recipients', detail: 'has no find: must it be called? Pass an object { find(recipient, tenant) }' },
    ])
    expect(() => readConfig(undefined as never)).toThrow('must be an object of options')
  })

  it('readConfig reports every number out of range', () => {
    const channels = { email: recordingChannel(), sms: recordingChannel() }
    const worker = { concurrency: 0, leaseMs: 999, pollMs: Number.NaN }
    const reported = problems(channels, { worker, expiresInMs: -1, idempotencyTtlMs: 1_000.5 })
    expect(reported.map(({ field }) => field)).toEqual([
      'worker.concurrency',
      'worker.leaseMs',
      'worker.pollMs',
      'expiresInMs',
      'idempotencyTtlMs',
    ])
    expect(reported[0]?.detail).toBe('is 0; must be a whole number from 1 to 1000')
    expect(problems(channels, { worker: { concurrency: 1, leaseMs: 1_000, pollMs: 10 }, expiresInMs: 1_000 })).toEqual(
      [],
    )
  })

  it.each([0, -5, Number.NaN, 1.5, 100_001, '10', null])('readConfig refuses maxInFlight %j', (maxInFlight) => {
    const channels = { email: recordingChannel(), sms: recordingChannel() }
    expect(problems(channels, { maxInFlight: maxInFlight as never })).toEqual([
      { field: 'maxInFlight', detail: expect.stringContaining('must be a whole number from 1 to 100000') },
    ])
  })

  it('readConfig accepts hooks of a class with other members, and reports likely misspellings', () => {
    class Metrics {
      readonly #lines: string[] = []
      sent = 0
      failed = 0
      onSent(): void {
        this.sent++
      }
      report(): number {
        return this.failed + this.#lines.length
      }
    }
    class Misspelt extends Metrics {
      readonly onFail = () => this.failed++
      onEror(): void {}
    }
    class Further extends Misspelt {
      override onEror(): void {}
    }
    class Wrong {
      onSent = 5
    }
    const channels = { email: recordingChannel(), sms: recordingChannel() }
    expect(problems(channels, { hooks: new Metrics() })).toEqual([])
    expect(problems(channels, { hooks: new Further() })).toEqual([
      { field: 'hooks.onFail', detail: 'is not an option; near: onFailed' },
      { field: 'hooks.onEror', detail: 'is not an option; near: onError' },
    ])
    expect(problems(channels, { hooks: new Wrong() as never })).toEqual([
      { field: 'hooks.onSent', detail: 'is a number; must be a function' },
    ])
    expect(problems(channels, { hooks: { onSent() {}, sent: 0 } as never })).toEqual([
      { field: 'hooks.sent', detail: 'is not an option; near: onSent' },
    ])
  })

  it('readConfig reports problems of the worker, channel by channel', () => {
    const channels = { email: recordingChannel(), sms: recordingChannel() }
    const rate = { max: 0, perMs: 1.5, per: 1 }
    const odd = {
      perReceiver: 1_001,
      sendTimeoutMs: '5000',
      breaker: { timeouts: 0, pause: 1 },
      threads: 4,
      rate,
      channels: { emial: { concurrency: 1 }, sms: { concurrency: 0, leaseMs: 1_000, rate: { max: 1 } } },
    }
    const near = expect.stringMatching(/^is not an option; (near|the options are): /)
    expect(problems(channels, { worker: odd as never })).toEqual([
      { field: 'worker.threads', detail: near },
      { field: 'worker.perReceiver', detail: 'is 1001; must be a whole number from 1 to 1000' },
      { field: 'worker.rate.per', detail: 'is not an option; near: perMs' },
      { field: 'worker.rate.max', detail: 'is 0; must be a whole number from 1 to 1000000' },
      { field: 'worker.rate.perMs', detail: 'is 1.5; must be a whole number from 1 to 3600000' },
      { field: 'worker.channels.sms.leaseMs', detail: near },
      { field: 'worker.channels.sms.concurrency', detail: 'is 0; must be a whole number from 1 to 1000' },
      { field: 'worker.channels.sms.rate.perMs', detail: 'is undefined; must be a whole number from 1 to 3600000' },
      { field: 'worker.sendTimeoutMs', detail: 'is a string; must be a whole number from 100 to 3600000' },
      { field: 'worker.breaker.pause', detail: 'is not an option; near: pauseMs' },
      { field: 'worker.breaker.timeouts', detail: 'is 0; must be a whole number from 1 to 1000' },
      { field: 'worker.channels', detail: '"emial" is not there; near: email' },
    ])
    const fine = { concurrency: 1_000, perReceiver: 1, sendTimeoutMs: 100, rate: { max: 1, perMs: 1 } }
    expect(problems(channels, { worker: { ...fine, channels: { sms: { rate: fine.rate } } } })).toEqual([])
    for (const breaker of [false, {}, { timeouts: 1, pauseMs: 1_000, maxPauseMs: 1_000 }] as const)
      expect(problems(channels, { worker: { breaker } })).toEqual([])
  })

  it.each<[string, unknown, string]>([
    ['policy', {}, 'has no decide; pass quietHours(…), allOf(…) or an object { decide(question) }'],
    ['policy', null, 'is null; pass quietHours(…), allOf(…) or an object { decide(question) }'],
    ['policy', { decide: 'send' }, 'has no decide; pass quietHours(…), allOf(…) or an object { decide(question) }'],
    [
      'policy',
      () => ({ verdict: 'send' }),
      'has no decide: must it be called? Pass quietHours(…), allOf(…) or an object { decide(question) }',
    ],
    ['sandbox', 'true', 'is a string; must be true or false'],
    ['sandbox', 1, 'is 1; must be true or false'],
    ['sandbox', null, 'is null; must be true or false'],
    ['hooks', null, 'is null; must be an object of options'],
    ['hooks', 'onSent', 'is a string; must be an object of options'],
    ['hooks', () => {}, 'is a function; must be an object of options'],
  ])('readConfig reports %s if it is %j', (field, given, detail) => {
    const channels = { email: recordingChannel(), sms: recordingChannel() }
    expect(problems(channels, { [field]: given as never })).toContainEqual({ field, detail })
  })

  it.each([
    [{ worker: null as never }, 'worker'],
    [{ worker: { channels: null as never } }, 'worker.channels'],
    [{ worker: { rate: null as never } }, 'worker.rate'],
    [{ worker: { channels: { sms: null as never } } }, 'worker.channels.sms'],
    [{ hooks: null as never }, 'hooks'],
    [{ events: { find: events.find } as never }, 'events'],
  ])('readConfig reports null and incomplete options: %j', (rest, field) => {
    const channels = { email: recordingChannel(), sms: recordingChannel() }
    expect(problems(channels, rest)).toMatchObject([{ field }])
  })

  it('readConfig reports every unknown hook, and every hook that is not a function', () => {
    const channels = { email: recordingChannel(), sms: recordingChannel() }
    const hooks = { onsent: () => {}, onDelivered: () => {}, onSent: 'log', onFailed: null, onSkipped: undefined }
    expect(problems(channels, { hooks: hooks as never })).toEqual([
      { field: 'hooks.onsent', detail: expect.stringMatching(/^is not an option; near: onSent/) },
      { field: 'hooks.onDelivered', detail: expect.stringMatching(/^is not an option; /) },
      { field: 'hooks.onSent', detail: expect.stringContaining('must be a function') },
      { field: 'hooks.onFailed', detail: expect.stringContaining('must be a function') },
    ])
  })

  it('readConfig reports channels and events that only a policy names', () => {
    const policy = allOf(
      quietHours({ from: '22:00', to: '08:00', timeZone: 'UTC', channels: ['emial'] }),
      throttle({ max: 1, windowMs: 1_000, channels: ['email'], events: ['order.shiped', 'nothing.like.it'] }),
    )
    const channels = { email: recordingChannel() }
    const shipped = defineEvents({ 'order.shipped': { channels: { email: {} } } })
    expect(problems(channels, { policy, events: shipped })).toEqual([
      { field: 'policy.channels', detail: '"emial" is not there; near: email' },
      { field: 'policy.events', detail: '"order.shiped" is not there; near: order.shipped' },
      { field: 'policy.events', detail: '"nothing.like.it" is not there; the names are: order.shipped' },
    ])
  })

  it('readConfig accepts a policy, hooks and sandbox mode, also when undefined', () => {
    const channels = { email: recordingChannel(), sms: recordingChannel() }
    const hook = async () => {}
    const hooks = { onAccepted: hook, onSent: hook, onFailed: hook, onSkipped: hook }
    const policy = { decide: () => ({ verdict: 'send' }) as const }
    expect(problems(channels, { policy, hooks, sandbox: true })).toEqual([])
    const left = { policy: undefined, hooks: undefined, sandbox: undefined, recipients: undefined } as never
    expect(problems(channels, left)).toEqual([])
  })

  it.each(Object.keys(memoryStore()))('readConfig refuses a store without %s', (method) => {
    const channels = { email: recordingChannel(), sms: recordingChannel() }
    const store = { ...memoryStore(), [method]: undefined }
    expect(problems(channels, { store: store as never })).toEqual([
      {
        field: 'store',
        detail: `has no ${method}; pass memoryStore(), sqlStore(…), documentStore(…) or engineStore(records)`,
      },
    ])
  })

  it('readConfig refuses a store that is not of the engine, and accepts a copy of one with other methods', () => {
    const channels = { email: recordingChannel(), sms: recordingChannel() }
    const methods = Object.fromEntries(Object.entries(memoryStore()))
    const { accept, recall } = memoryStore()
    const detailOf = (store: unknown) => problems(channels, { store: store as never }).map(({ detail }) => detail)
    expect(detailOf(methods)).toEqual([
      expect.stringMatching(/^is not of the engine; pass .* a copy of one with other methods/),
    ])
    expect(detailOf({ accept, recall })).toEqual([expect.stringContaining('what within(transaction) returned belongs')])
    expect(detailOf({})).toEqual([expect.stringMatching(/^is not of the engine; pass .* or engineStore\(records\)$/)])
    expect(detailOf('sql')).toEqual([expect.stringContaining('pass memoryStore(), ')])
    expect(detailOf({ ...memoryStore(), accept })).toEqual([])
  })

  it('readConfig reports the problem that a channel finds in the fields of an event', () => {
    const asked: (readonly string[])[] = []
    const email = recordingChannel(undefined, {
      checkFields(fields) {
        asked.push(fields)
        return fields.includes('text') ? undefined : 'needs a text'
      },
    })
    expect(problems({ email, sms: recordingChannel() })).toEqual([
      { event: 'one', channel: 'email', detail: 'needs a text' },
    ])
    expect(asked).toEqual([['subject']])
  })

  it.each([[[]], [[0]], [[1, 1, 2]], [[1_000, 5_000]]])('readConfig accepts the retry schedule %j', (retrySchedule) => {
    expect(problems({ email: scheduled(retrySchedule), sms: recordingChannel() })).toEqual([])
  })

  it.each<[readonly number[], number, string]>([
    [[2, 1], 1, 'is 1; must not be below 2, the one before it'],
    [[-1], 0, 'is -1; must be whole milliseconds, 0 or more'],
    [[Number.NaN], 0, 'is NaN; must be whole milliseconds, 0 or more'],
    [[1, Number.NaN], 1, 'is NaN; must be whole milliseconds, 0 or more'],
    [[Number.POSITIVE_INFINITY], 0, 'is Infinity; must be whole milliseconds, 0 or more'],
  ])('readConfig refuses the retry schedule %j', (retrySchedule, index, detail) => {
    expect(problems({ email: scheduled(retrySchedule), sms: recordingChannel() })).toEqual([
      { field: `channels.email.retrySchedule[${index}]`, detail },
    ])
  })

  it('readConfig reports all problems at once', () => {
    const odd = { workers: {}, worker: { pollMs: 1 }, maxInHand: 0 } as never
    const reported = problems({ push: scheduled([2, 1]), fax: {} as never }, odd)
    expect(reported.map(({ event, channel, field }) => field ?? `${event} ${channel}`)).toEqual([
      'workers',
      'maxInHand',
      'channels.push.retrySchedule[1]',
      'channels.fax',
      'worker.pollMs',
      'one email',
      'one sms',
    ])
  })
})
