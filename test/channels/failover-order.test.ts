import { describe, expect, test } from 'vitest'
import { failoverChannel } from '../../src/channels/failover-channel.ts'
import type { Providers } from '../../src/channels/failover-providers.ts'
import type { Attempt, AttemptEnd } from '../../src/model/attempt.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { fc, runs } from '../support/properties.ts'
import { context, message } from './messages.ts'
import { attempts, ends, fails, retry, scriptedProviders, trio } from './providers.ts'

const MESSAGE = message('ada@example.test', {})

const unknown = (provider?: string): Pick<AttemptEnd, 'outcome' | 'provider'> => ({
  outcome: 'unknown',
  ...(provider !== undefined && { provider }),
})

describe('a provider that did not send', () => {
  test('A provider that did not send moves to the end of the order for a minute', async () => {
    const { first, asked, clock, send } = trio()
    first.answer = retry
    await send()
    first.answer = () => ({ outcome: 'sent' })
    clock.advance(59_999)
    await send()
    expect(asked).toEqual(['2'])
    clock.advance(1)
    await send()
    expect(asked).toEqual(['1'])
  })

  test('A cooling provider is tried if the others do not send either', async () => {
    const { first, second, third, asked, send } = trio()
    first.answer = retry
    await send()
    second.answer = fails
    third.answer = retry
    await send()
    expect(asked).toEqual(['2', '3', '1'])
  })

  test('If all providers cool down, the one whose cool-down ends first is tried first', async () => {
    const { first, second, third, asked, clock, send } = trio()
    for (const provider of [first, second, third]) provider.answer = retry
    second.answer = () => ({ outcome: 'rejected', code: 'no' })
    await send()
    clock.advance(1_000)
    second.answer = retry
    // The attempt begins with the second, which may have sent the message.
    await send(unknown('2'))
    expect(asked).toEqual(['2', '3', '1'])
    clock.advance(1_000)
    third.answer = () => ({ outcome: 'rejected', code: 'no' })
    await send(unknown('1'))
    expect(asked).toEqual(['1', '2', '3'])
    await send()
    expect(asked).toEqual(['3'])
  })

  test('A provider is preferred again after it sends', async () => {
    const { first, asked, send } = trio()
    first.answer = retry
    await send()
    first.answer = () => ({ outcome: 'sent' })
    await send(unknown('1'))
    await send()
    expect(asked).toEqual(['1'])
  })

  test('A provider does not cool down after an abort', async () => {
    for (const ending of [retry, fails]) {
      const { first, asked, channel, send } = trio()
      const lease = new AbortController()
      first.answer = () => {
        lease.abort()
        return ending()
      }
      await channel.send(MESSAGE, context(lease.signal))
      first.answer = () => ({ outcome: 'sent' })
      await send()
      expect(asked).toEqual(['1'])
    }
  })
})

describe('an attempt that may have sent', () => {
  test.each([
    ['once', [unknown('1')], 1],
    ['once, by a later one', [unknown('3')], 3],
    ['twice by the same', [unknown('1'), unknown('1')], 2],
    ['twice by the last', [unknown('3'), unknown('3')], 1],
    ['three times', [unknown('2'), unknown('2'), unknown('2')], 3],
    ['twice by the same, but not in a row', [unknown('1'), { outcome: 'retry', provider: '3' }, unknown('1')], 1],
    ['by two', [unknown('1'), unknown('1'), unknown('2')], 2],
    ['by each twice', [unknown('1'), unknown('1'), unknown('2'), unknown('2')], 3],
    ['by a worker that died', [undefined], 1],
    ['by a worker that died after it', [unknown('2'), undefined], 3],
    ['by a worker that died, and by the same', [undefined, unknown('1')], 2],
    ['by workers that died', [undefined, undefined], 2],
    ['by an attempt that timed out', [unknown()], 1],
    ['by a provider that was removed', [unknown('2'), unknown('7')], 3],
    ['before an attempt without a provider', [unknown('2'), { outcome: 'retry' }], 2],
  ] satisfies [string, Parameters<typeof attempts>, 1 | 2 | 3][])(
    'After unknown results, failover continues with the right provider: %s',
    async (_what, ends, begins) => {
      const { first, second, third, asked, send } = trio()
      const due = { 1: first, 2: second, 3: third }[begins]
      due.answer = retry
      await send(unknown(`${begins}`))
      await send()
      expect(asked).not.toContain(`${begins}`)
      await send(...ends)
      expect(asked[0]).toBe(`${begins}`)
    },
  )

  test.each([
    ['no attempt', []],
    ['a retry', [unknown('1'), { outcome: 'retry', provider: '3' }]],
    ['a rejection', [undefined, { outcome: 'rejected', provider: '1' }]],
  ] satisfies [string, Parameters<typeof attempts>][])(
    'After %s, failover follows the normal order',
    async (_what, ends) => {
      const { first, asked, send } = trio()
      first.answer = retry
      await send()
      await send(...ends)
      expect(asked).toEqual(['2'])
    },
  )
})

describe('a provider that asks for a wait', () => {
  const waits =
    (retryAfterMs: number, outcome = 'retry') =>
    () => ({ outcome, code: 'http_429', retryAfterMs })

  test('A provider that asked for a wait is not called before its end, even if the others do not send', async () => {
    const { first, second, third, asked, clock, send } = trio()
    first.answer = waits(3_600_000)
    second.answer = retry
    third.answer = fails
    expect(await send()).toMatchObject({ outcome: 'retry', code: 'channel_error', provider: '3' })
    for (const at of [1_000, 1_800_000, 1_798_999]) {
      clock.advance(at)
      await send()
      expect([...asked].sort()).toEqual(['2', '3'])
    }
    clock.advance(1)
    await send()
    expect([...asked].sort()).toEqual(['1', '2', '3'])
  })

  test('failover waits for the shortest wait if all providers ask for one', async () => {
    const { first, second, third, asked, clock, send } = trio()
    first.answer = waits(90_000)
    second.answer = waits(60_000)
    third.answer = waits(70_000)
    expect(await send()).toEqual({
      ...{ outcome: 'retry', code: 'http_429', provider: '3', retryAfterMs: 60_000 },
      ...ends('1 http_429', '2 http_429', '3 http_429'),
    })
    clock.advance(59_000)
    expect(await send()).toEqual({
      ...{ outcome: 'retry', code: 'provider_waiting', retryAfterMs: 1_000 },
      ...ends('1 provider_waiting', '2 provider_waiting', '3 provider_waiting'),
    })
    expect(asked).toEqual([])
    clock.advance(1_000)
    await send()
    expect(asked).toEqual(['2'])
  })

  test('failover waits for the provider that may have sent the message', async () => {
    const { first, asked, clock, send } = trio()
    first.answer = waits(30_000, 'unknown')
    expect(await send()).toEqual({
      ...{ outcome: 'unknown', code: 'http_429', provider: '1', retryAfterMs: 30_000 },
      ...ends('1 http_429'),
    })
    clock.advance(10_000)
    expect(await send(unknown('1'))).toEqual({
      ...{ outcome: 'retry', code: 'provider_waiting', retryAfterMs: 20_000 },
      ...ends('1 provider_waiting'),
    })
    expect(asked).toEqual([])
    clock.advance(20_000)
    await send(unknown('1'), { outcome: 'retry' })
    expect(asked).toEqual(['1'])
  })

  test('A provider that asked for a wait is called for other deliveries meanwhile', async () => {
    const { first, asked, channel, send } = trio()
    first.answer = waits(Number.POSITIVE_INFINITY)
    await send()
    for (const deliveryId of ['dlv_2', 'dlv_3'])
      await channel.send(MESSAGE, { ...context(undefined, attempts(unknown('1'))), deliveryId })
    expect(asked).toEqual(['1', '2', '1', '2', '1', '2'])
  })

  test('Each result of a provider sets its wait anew', async () => {
    const { first, second, third, asked, clock, send } = trio()
    for (const provider of [first, second, third]) provider.answer = waits(1_000)
    await send()
    clock.advance(1_000)
    await send()
    expect(asked).toHaveLength(3)
    clock.advance(999)
    await send()
    expect(asked).toEqual([])
  })

  test.each([Number.NaN, -1, 0, '60000', null])('failover ignores a wait of %j', async (asked) => {
    const given = trio()
    given.first.answer = waits(asked as number)
    given.second.answer = given.third.answer = retry
    expect(await given.send()).not.toHaveProperty('retryAfterMs')
    await given.send()
    expect(given.asked).toContain('1')
  })
})

const MOST = 4
const KINDS = ['sent', 'retry', 'unknown', 'rejected', 'throw', 'nonsense'] as const

/** One attempt: each provider's result, the time since the last attempt, and the part that the store records. */
const step = fc.record({
  answers: fc.array(
    fc.oneof(
      { weight: 3, arbitrary: fc.constant('retry' as const) },
      { weight: 2, arbitrary: fc.constantFrom(...KINDS) },
    ),
    { minLength: MOST, maxLength: MOST },
  ),
  after: fc.constantFrom(0, 1, 20_000, 59_999, 60_000, 3_600_000),
  written: fc.constantFrom('all', 'all', 'all', 'no provider', 'nothing'),
  nextDelivery: fc.boolean(),
})

test('failover keeps the order of providers for any results', async () => {
  const scripts = fc.tuple(fc.integer({ min: 2, max: MOST }), fc.array(step, { minLength: 1, maxLength: 12 }))
  await fc.assert(
    fc.asyncProperty(scripts, async ([count, steps]) => {
      const clock = fakeClock()
      const { providers, asked } = scriptedProviders(count)
      const channel = failoverChannel(providers as unknown as Providers, clock)
      const names = providers.map((_, index) => `${index + 1}`)
      const coolingUntil = new Map<string, number>()
      const coolDown = (name: string) => Math.max((coolingUntil.get(name) ?? 0) - clock.now(), 0)
      let history: Attempt[] = []

      for (const { answers, after, written, nextDelivery } of steps) {
        clock.advance(after)
        providers.forEach((provider, index) => {
          provider.answer = () => {
            const kind = answers[index]
            if (kind === 'throw') throw new Error('boom')
            return kind === 'nonsense' ? {} : { outcome: kind, code: 'c' }
          }
        })
        const kindOf = (name: string) => answers[Number(name) - 1]
        const didNotSend = (name: string) => kindOf(name) === 'retry' || kindOf(name) === 'throw'
        asked.length = 0
        const outcome = await channel.send(MESSAGE, context(undefined, history))

        // At least one provider is called, none twice, and only the last one may have sent.
        expect(asked.length).toBeGreaterThan(0)
        expect(new Set(asked).size).toBe(asked.length)
        expect(asked.slice(0, -1).filter((name) => !didNotSend(name))).toEqual([])
        const last = asked.at(-1) ?? ''
        expect(outcome.provider).toBe(last)
        expect(asked.length === count || !didNotSend(last)).toBe(true)
        const ends: Record<string, string> = { throw: 'retry', nonsense: 'unknown' }
        const kind = kindOf(last) ?? ''
        expect(outcome.outcome).toBe(ends[kind] ?? kind)

        // After an unknown result the same provider is tried; after two, the next one.
        const [former, latter] = [history.at(-2), history.at(-1)]
        if (latter?.outcome === 'unknown' && latter.provider !== undefined) {
          const twice = former?.outcome === 'unknown' && former.provider === latter.provider
          const next = names[names.indexOf(latter.provider) + 1] ?? '1'
          // Attempts without a recorded provider have tests of their own.
          if (twice || !history.some((attempt) => attempt.provider === undefined)) {
            expect(asked[0]).toBe(twice ? next : latter.provider)
          }
        }
        // Providers are called in the order of their remaining cool-down.
        const rest = latter === undefined || latter.outcome === 'retry' ? asked : asked.slice(1)
        const passedOver = names.filter((name) => !asked.includes(name))
        const order = rest.map(coolDown)
        expect(order).toEqual(order.toSorted((a, b) => a - b))
        expect(passedOver.filter((name) => coolDown(name) < (order.at(-1) ?? 0))).toEqual([])

        for (const name of asked) {
          if (didNotSend(name)) coolingUntil.set(name, clock.now() + 60_000)
          else if (kindOf(name) === 'sent') coolingUntil.delete(name)
        }
        const { provider, outcome: how } = outcome
        const reported = {
          all: { outcome: how, ...(provider !== undefined && { provider }) },
          'no provider': { outcome: 'unknown' as const },
          nothing: {},
        }[written]
        const isOver = how === 'sent' || how === 'rejected' || nextDelivery
        history = isOver ? [] : [...history, { attempt: history.length + 1, startedAt: clock.now(), ...reported }]
      }
    }),
    { numRuns: runs(500) },
  )
})
