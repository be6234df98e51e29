import { describe, expect, it } from 'vitest'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import type { DeliveryPolicy, PolicyQuestion, SendLimit, Verdict } from '../../../../src/ports/delivery-policy.ts'
import type { EventCatalog } from '../../../../src/ports/event-catalog.ts'
import { GRANT, GRANTED, type TestDeps, testDeps } from '../../../support/deps.ts'
import { recordingChannel } from '../../../support/recording-channel.ts'
import { accepted, braces, claimOne, ORDER, outcomes, post, refused, stored } from '../dispatching.ts'

const HOUR = 3_600_000
const BODY = { eventType: 'e', recipient: 'jane@example.com' }
const OPTED_OUT: Verdict = { verdict: 'skip', reason: 'opted_out' }
const SEND: Verdict = { verdict: 'send' }

const both = defineEvents({ e: { channels: { a: {}, b: {} } } })

/** A policy with a verdict per channel, by default `send`, that records its questions. */
function policyOf(verdicts: Readonly<Record<string, Verdict>>): DeliveryPolicy & { readonly asked: PolicyQuestion[] } {
  const asked: PolicyQuestion[] = []
  return {
    asked,
    decide(question) {
      asked.push(question)
      return verdicts[question.channel] ?? SEND
    },
  }
}

function depsFor(policy: DeliveryPolicy, events: EventCatalog = both, rest = {}): TestDeps {
  const channels = { a: recordingChannel(), b: recordingChannel(), c: recordingChannel() }
  return testDeps(channels, { events, policy, ...rest })
}

const limit = (max: number, rest: Partial<SendLimit> = {}): SendLimit => ({ key: 'k', max, windowMs: HOUR, ...rest })
const limited = (...limits: readonly SendLimit[]): Verdict => ({ verdict: 'send', limits })

describe('a policy that skips', () => {
  it('A policy that skips one channel skips only that channel, with its reason', async () => {
    const deps = depsFor(policyOf({ a: OPTED_OUT }))
    expect(await accepted(deps, BODY)).toMatchObject({
      status: 'queued',
      deliveries: [
        { channel: 'a', status: 'skipped', reason: 'opted_out' },
        { channel: 'b', status: 'queued' },
      ],
    })
    expect(await outcomes(deps)).toEqual(['a: skipped opted_out 0', 'b: queued 0'])
  })

  it('A policy may skip every channel as throttled', async () => {
    const deps = depsFor(policyOf({ a: { verdict: 'skip', reason: 'throttled' }, b: OPTED_OUT }))
    expect(await accepted(deps, BODY)).toMatchObject({ status: 'skipped' })
    expect(await outcomes(deps)).toEqual(['a: skipped throttled 0', 'b: skipped opted_out 0'])
  })

  it('A skipped channel stores no address and content and needs no data', async () => {
    const events = defineEvents({ e: { channels: { a: { text: '{{ data.gone }}' }, b: {} } } }, { templates: braces })
    const deps = depsFor(policyOf({ a: OPTED_OUT }), events)
    await accepted(deps, BODY)
    const [dispatch] = await stored(deps)
    expect(dispatch?.deliveries[0]).not.toHaveProperty('address')
    expect(dispatch?.deliveries[0]).not.toHaveProperty('content')
  })

  it('The policy is not asked about channels that a condition or a missing address ends', async () => {
    const events = defineEvents({ e: { channels: { a: { when: () => false }, nowhere: {} } } })
    const nowhere = recordingChannel(undefined, { address: () => undefined })
    const policy: DeliveryPolicy = {
      decide() {
        throw new Error('the preferences are down')
      },
    }
    const deps = testDeps({ a: recordingChannel(), nowhere }, { events, policy })
    await accepted(deps, BODY)
    expect(await outcomes(deps)).toEqual(['a: skipped condition_false 0', 'nowhere: skipped no_address 0'])
  })

  it('A policy cannot change a channel that a condition or a missing address ended', async () => {
    const events = defineEvents({ e: { channels: { a: { when: () => false }, b: {}, c: { when: () => fail() } } } })
    const deps = depsFor(policyOf({ a: OPTED_OUT, b: OPTED_OUT, c: OPTED_OUT }), events)
    const nowhere = recordingChannel(undefined, { address: () => undefined })
    const reaching = { ...deps, channels: { ...deps.channels, b: nowhere } }
    await accepted(reaching, BODY)
    expect(await outcomes(reaching)).toEqual([
      'a: skipped condition_false 0',
      'b: skipped no_address 0',
      'c: failed condition_error 0',
    ])
  })

  it('Neither a named channel nor a session token bypasses the policy', async () => {
    const deps = depsFor(policyOf({ a: OPTED_OUT }))
    await accepted(deps, { ...BODY, channel: 'a' })
    expect(await outcomes(deps)).toEqual(['a: skipped opted_out 0'])
    const grant = { ...GRANT, events: ['e'], channels: ['a', 'b'] }
    const auth = { verify: async () => ({ id: 't', tenant: 'default', sessionId: 's1', dispatch: grant }) }
    const granted = depsFor(policyOf({ a: OPTED_OUT }), both, { auth })
    await accepted(granted, BODY)
    expect(await outcomes(granted)).toEqual(['a: skipped opted_out 0', 'b: queued 0'])
    await accepted(granted, { ...BODY, channel: 'a' })
    expect(await outcomes(granted)).toEqual(['a: skipped opted_out 0'])
  })
})

describe('a policy that defers', () => {
  const defer = (until: number): DeliveryPolicy => policyOf({ a: { verdict: 'defer', until }, b: OPTED_OUT })

  it('A deferred delivery waits until the given time to the millisecond', async () => {
    const clock = testDeps().clock
    const deps = depsFor(defer(clock.now() + HOUR))
    const answer = await accepted(deps, BODY)
    expect(answer).toMatchObject({
      status: 'queued',
      deliveries: [{ status: 'queued', attempts: 0, nextAttemptAt: '2026-11-21T09:00:00.000Z' }, {}],
    })
    deps.clock.advance(HOUR - 1)
    await expect(claimOne(deps)).rejects.toThrow('0 deliveries are due')
    deps.clock.advance(1)
    expect(await claimOne(deps)).toMatchObject({ deliveryId: answer.deliveries[0]?.deliveryId, deferred: true })
  })

  it('A delivery deferred to a past time is sent at once', async () => {
    for (const until of [0, testDeps().clock.now() - HOUR, testDeps().clock.now()]) {
      const deps = depsFor(defer(until))
      const { deliveries } = await accepted(deps, BODY)
      expect(deliveries[0]).not.toHaveProperty('nextAttemptAt')
      expect(await claimOne(deps)).not.toHaveProperty('deferred')
    }
  })

  it('A deferral rounds up to a whole millisecond', async () => {
    const deps = depsFor(defer(testDeps().clock.now() + 0.5))
    expect((await accepted(deps, BODY)).deliveries[0]?.nextAttemptAt).toBe('2026-11-21T08:00:00.001Z')
    await expect(claimOne(deps)).rejects.toThrow('0 deliveries are due')
  })

  it('A deferral that ends before the delay does not change the delay', async () => {
    const events = defineEvents({ e: { delayMs: 2 * HOUR, channels: { a: {} } } })
    const now = testDeps().clock.now()
    const answers = await Promise.all([HOUR, 3 * HOUR].map((ms) => accepted(depsFor(defer(now + ms), events), BODY)))
    expect(answers.map(({ deliveries }) => deliveries[0]?.nextAttemptAt)).toEqual([
      '2026-11-21T10:00:00.000Z',
      '2026-11-21T11:00:00.000Z',
    ])
  })
})

describe('limits', () => {
  it('The 202 answer shows throttled for spent limits', async () => {
    const deps = depsFor(policyOf({ a: limited(limit(2)) }))
    const answers = [await accepted(deps, BODY), await accepted(deps, BODY), await accepted(deps, BODY)]
    expect(answers.map(({ deliveries }) => [deliveries[0]?.status, deliveries[0]?.reason])).toEqual([
      ['queued', undefined],
      ['queued', undefined],
      ['skipped', 'throttled'],
    ])
    expect(answers[2]?.deliveries[1]).toMatchObject({ channel: 'b', status: 'queued' })
    expect(await outcomes(deps)).toEqual(['a: skipped throttled 0', 'b: queued 0'])
    deps.clock.advance(HOUR)
    expect(await accepted(deps, BODY)).toMatchObject({ deliveries: [{ status: 'queued' }, {}] })
  })

  it('Limits count per tenant and include deferred deliveries', async () => {
    const until = testDeps().clock.now() + HOUR
    const deps = depsFor(policyOf({ a: { verdict: 'defer', until, limits: [limit(1)] }, b: OPTED_OUT }))
    const other = { authorization: 'Bearer other' }
    expect(await accepted(deps, BODY)).toMatchObject({ status: 'queued' })
    expect(await accepted(deps, BODY)).toMatchObject({ status: 'skipped', deliveries: [{ reason: 'throttled' }, {}] })
    expect(await accepted(deps, BODY, other)).toMatchObject({ status: 'queued' })
    expect(await accepted(deps, BODY, other)).toMatchObject({ status: 'skipped' })
  })

  it('Skipped, refused, replayed and dry-run deliveries spend no limit', async () => {
    const events = defineEvents({
      e: { channels: { a: {} } },
      never: { channels: { a: { when: () => false } } },
      broken: { channels: { a: { text: () => fail() } } },
    })
    const deps = depsFor(policyOf({ a: limited(limit(2)) }), events)
    await accepted(deps, { ...BODY, eventType: 'never' })
    await accepted(deps, { ...BODY, eventType: 'broken' })
    await refused(deps, { ...BODY, recipient: 'nobody' })
    for (let round = 0; round < 3; round++) await post(deps, BODY, {}, { dryRun: 'true' })
    for (let round = 0; round < 3; round++) await accepted(deps, BODY, { 'idempotency-key': 'k' })
    expect(await accepted(deps, BODY)).toMatchObject({ status: 'queued' })
    expect(await accepted(deps, BODY)).toMatchObject({ status: 'skipped' })
  })

  it('Limits hold for a thousand concurrent dispatches', async () => {
    const events = defineEvents({ e: { channels: { a: {} } } })
    const deps = depsFor(policyOf({ a: limited(limit(7)) }), events)
    const answers = await Promise.all(Array.from({ length: 1_000 }, () => accepted(deps, BODY)))
    expect(answers.filter(({ status }) => status === 'queued')).toHaveLength(7)
    expect(answers.filter(({ status }) => status === 'skipped')).toHaveLength(993)
  })
})

describe('policy questions', () => {
  it('A policy question names recipient, event, channel and time for each channel', async () => {
    const jane = {
      id: 'user_42',
      email: 'jane@example.com',
      locale: 'de-AT',
      timeZone: 'Europe/Vienna',
      attributes: {},
    }
    const recipients = { find: async () => jane }
    const policy = policyOf({})
    const deps = depsFor(policy, both, { recipients })
    await accepted(deps, { ...BODY, recipient: 'user_42' }, { authorization: 'Bearer other' })
    const question = {
      tenant: 'other',
      eventType: 'e',
      category: 'e',
      critical: false,
      recipient: jane,
      at: deps.clock.now(),
    }
    expect(policy.asked).toEqual([
      { ...question, channel: 'a' },
      { ...question, channel: 'b' },
    ])
  })

  it('A policy question says whether the event is critical and when it would be sent, with delay and digest', async () => {
    const events = defineEvents({
      urgent: { critical: true, channels: { a: {} } },
      late: { delayMs: HOUR, channels: { a: {} } },
      gathered: { digest: { windowMs: 2 * HOUR }, channels: { a: {} } },
    })
    const policy = policyOf({})
    const deps = depsFor(policy, events)
    for (const eventType of events.eventTypes) await accepted(deps, { ...BODY, eventType })
    expect(policy.asked.map(({ eventType, critical, at }) => [eventType, critical, at - deps.clock.now()])).toEqual([
      ['urgent', true, 0],
      ['late', false, HOUR],
      ['gathered', false, 2 * HOUR],
    ])
    expect((await stored(deps)).map(({ critical }) => critical)).toEqual([undefined, undefined, true])
  })

  it('A policy question names the session of a session token', async () => {
    const policy = policyOf({})
    const deps = testDeps(undefined, { policy })
    await accepted(deps, { ...ORDER, channel: 'email' })
    await accepted(deps, { ...ORDER, channel: 'email' }, GRANTED)
    expect(policy.asked.map(({ channel, sessionId }) => [channel, sessionId])).toEqual([
      ['email', undefined],
      ['email', 's1'],
    ])
  })

  it('The policy is asked only about the channel that the caller named', async () => {
    const policy = policyOf({})
    await accepted(depsFor(policy), { ...BODY, channel: 'b' })
    expect(policy.asked.map(({ channel }) => channel)).toEqual(['b'])
  })

  it('A dry run asks the policy and shows its verdict', async () => {
    const until = testDeps().clock.now() + HOUR
    const deps = depsFor(policyOf({ a: OPTED_OUT, b: { verdict: 'defer', until, limits: [limit(1)] } }))
    expect(await post(deps, BODY, {}, { dryRun: 'true' })).toMatchObject({
      status: 200,
      body: {
        status: 'queued',
        deliveries: [
          { channel: 'a', status: 'skipped', reason: 'opted_out' },
          { channel: 'b', status: 'queued', address: 'j…@example.com', nextAttemptAt: '2026-11-21T09:00:00.000Z' },
        ],
      },
    })
    expect(await stored(deps)).toEqual([])
  })

  it('The policy is not asked about refused and replayed requests', async () => {
    const policy = policyOf({})
    const deps = depsFor(policy)
    await refused(deps, { ...BODY, recipient: 'nobody' })
    await refused(deps, { ...BODY, eventType: 'f' })
    await refused(deps, { ...BODY, channel: 'c' })
    expect(policy.asked).toEqual([])
    await accepted(deps, BODY, { 'idempotency-key': 'k' })
    await accepted(deps, BODY, { 'idempotency-key': 'k' })
    expect(policy.asked).toHaveLength(2)
  })
})

function fail(): never {
  throw new Error('no')
}
