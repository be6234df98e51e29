import { describe, expect, it } from 'vitest'
import { createWorker } from '../../../../src/core/delivery/worker.ts'
import { defineEvents } from '../../../../src/core/dispatch/catalog/define-events.ts'
import type { DeliveryPolicy, SendLimit, Verdict } from '../../../../src/ports/delivery-policy.ts'
import { localQueue } from '../../../../src/queues/local.ts'
import { type TestDeps, testDeps } from '../../../support/deps.ts'
import { recordingChannel } from '../../../support/recording-channel.ts'
import { accepted, outcomes, stored } from '../dispatching.ts'

const HOUR = 3_600_000
const BODY = { eventType: 'e', recipient: 'jane@example.com' }
const OPTED_OUT: Verdict = { verdict: 'skip', reason: 'opted_out' }
const SEND: Verdict = { verdict: 'send' }

const events = defineEvents({ e: { route: 'first', channels: { a: {}, b: {}, c: {} } } })

const policyOf = (verdicts: Readonly<Record<string, Verdict>>): DeliveryPolicy => ({
  decide: ({ channel }) => verdicts[channel] ?? SEND,
})

function depsFor(policy: DeliveryPolicy, rest = {}): TestDeps {
  const channels = { a: recordingChannel(), b: recordingChannel(), c: recordingChannel() }
  return testDeps(channels, { events, policy, ...rest })
}

const limit = (max: number, rest: Partial<SendLimit> = {}): SendLimit => ({ key: 'k', max, windowMs: HOUR, ...rest })
const limited = (...limits: readonly SendLimit[]): Verdict => ({ verdict: 'send', limits })

describe('a policy on the first route', () => {
  it('A policy that skips the first channel queues the second and holds the third', async () => {
    const deps = depsFor(policyOf({ a: OPTED_OUT }))
    expect(await accepted(deps, BODY)).toMatchObject({ status: 'queued' })
    expect(await outcomes(deps)).toEqual(['a: skipped opted_out 0', 'b: queued 0', 'c: held 0'])
  })

  it('A policy that skips a later channel leaves it out of the held ones', async () => {
    const deps = depsFor(policyOf({ b: OPTED_OUT }))
    await accepted(deps, BODY)
    expect(await outcomes(deps)).toEqual(['a: queued 0', 'b: skipped opted_out 0', 'c: held 0'])
  })

  it('A policy whose limits throttle the first channel queues the second in the same answer', async () => {
    const deps = depsFor(policyOf({ a: limited(limit(1, { key: 'a' })), b: limited(limit(1, { key: 'b' })) }))
    const answers = []
    for (let round = 0; round < 3; round++) answers.push(await accepted(deps, BODY))
    const reported = answers.map(({ deliveries }) => deliveries.map(({ status, reason }) => reason ?? status))
    expect(reported).toEqual([
      ['queued', 'held', 'held'],
      ['throttled', 'queued', 'held'],
      ['throttled', 'throttled', 'queued'],
    ])
    expect(answers.map(({ status }) => status)).toEqual(['queued', 'queued', 'queued'])
    expect(await outcomes(deps)).toEqual(['a: skipped throttled 0', 'b: skipped throttled 0', 'c: queued 0'])
  })

  it('A fallback for a throttled channel wakes a worker', async () => {
    const woken: number[] = []
    const queue = { wake: (ms: number) => void woken.push(ms), listen: () => () => {} }
    const deps = depsFor(policyOf({ a: limited(limit(1)) }), { queue })
    await accepted(deps, BODY)
    await accepted(deps, BODY)
    expect(woken).toEqual([0, 0])
    expect((await deps.store.claim({ leaseMs: 1, limits: { b: 1 }, busy: [] })).deliveries).toHaveLength(1)
  })

  it('Held and deferred deliveries are marked for another policy check', async () => {
    const deps = depsFor(policyOf({}))
    await accepted(deps, BODY)
    const deferred = async () => (await stored(deps))[0]?.deliveries.map((delivery) => delivery.deferred)
    expect(await deferred()).toEqual([undefined, true, true])
    const until = deps.clock.now() + HOUR
    await accepted({ ...deps, policy: policyOf({ a: { verdict: 'defer', until } }) }, BODY)
    expect(await deferred()).toEqual([true, true, true])
  })

  it('A policy that skips a promoted fallback prevents its send', async () => {
    const channels = { a: recordingChannel([{ outcome: 'rejected', code: 'gone' }]), b: recordingChannel() }
    let verdict: Verdict = SEND
    const deps = testDeps(channels, {
      events: defineEvents({ e: { route: 'first', channels: { a: {}, b: {} } } }),
      policy: { decide: () => verdict },
    })
    await accepted(deps, BODY)
    verdict = OPTED_OUT
    await createWorker({ ...deps, queue: localQueue(deps.clock) }).runDue()
    expect(await outcomes(deps)).toEqual(['a: failed provider_rejected 1', 'b: skipped opted_out 0'])
    expect(channels.b.sent).toEqual([])
  })

  it('A policy that defers the first channel holds the others behind it', async () => {
    const until = testDeps().clock.now() + HOUR
    const deps = depsFor(policyOf({ a: { verdict: 'defer', until }, c: { verdict: 'defer', until } }))
    const { deliveries } = await accepted(deps, BODY)
    expect(deliveries.map(({ status }) => status)).toEqual(['queued', 'held', 'held'])
    expect(deliveries.map((delivery) => 'nextAttemptAt' in delivery)).toEqual([true, false, false])
  })
})
