import { failover } from 'sallyport/channels/failover'
import { describe, expect, test } from 'vitest'
import { failoverChannel } from '../../src/channels/failover-channel.ts'
import type { Channel } from '../../src/ports/channel.ts'
import { fakeClock } from '../support/fake-clock.ts'
import { context, message } from './messages.ts'
import { attempts, ends, retry, scriptedProviders, trio } from './providers.ts'

const MESSAGE = message('ada@example.test', {})

const plain = (): Channel => ({ address: () => undefined, send: async () => ({ outcome: 'sent' }) })

function problemsOf(...given: readonly unknown[]): unknown {
  try {
    Reflect.apply(failover, undefined, given)
  } catch (error) {
    expect(error).toMatchObject({ code: 'option_invalid' })
    return Reflect.get(Object(error), 'problems')
  }
  return undefined
}

describe('named providers', () => {
  const named = () => {
    const { providers, asked } = scriptedProviders(2)
    const [ses, postmark] = providers
    if (!ses || !postmark) throw new Error('there are two')
    return { ses, postmark, asked, channel: failoverChannel([{ ses, postmark }], fakeClock()) }
  }

  test('failover asks named providers in the order of the object and names them in its outcome', async () => {
    const { ses, channel, asked } = named()
    ses.answer = retry
    expect(await channel.send(MESSAGE, context())).toEqual({
      outcome: 'sent',
      provider: 'postmark',
      ...ends('ses busy', 'postmark'),
    })
    expect(asked).toEqual(['1', '2'])
  })

  test('failover finds the provider of an attempt that may have sent by its name', async () => {
    const { channel, asked } = named()
    await channel.send(MESSAGE, context(undefined, attempts({ outcome: 'unknown', provider: 'postmark' })))
    expect(asked).toEqual(['2'])
  })

  test('failover takes an object of channels of any class', () => {
    class Own implements Channel {
      address = () => 'a'
      send = plain().send
    }
    expect(failover({ send: new Own(), address: new Own() }).address({ id: 'ada' })).toBe('a')
  })
})

describe('providers of an attempt', () => {
  test('failover lists a preferred provider that cools down before those that it asks', async () => {
    const { first, second, clock, send } = trio()
    first.answer = retry
    await send()
    second.answer = retry
    clock.advance(30_000)
    expect(await send()).toMatchObject({ provider: '3', ...ends('1 cooling_down', '2 busy', '3') })
    clock.advance(30_000)
    first.answer = () => ({ outcome: 'sent' })
    expect(await send()).toMatchObject({ provider: '1', ...ends('1') })
  })

  test('failover lists a provider that cools down only once if it is asked after all', async () => {
    const { first, second, third, send } = trio()
    first.answer = retry
    await send()
    second.answer = third.answer = retry
    expect(await send()).toMatchObject({ provider: '1', ...ends('2 busy', '3 busy', '1 busy') })
  })

  test('failover lists a provider whose requested wait has not ended', async () => {
    const { first, second, third, send } = trio()
    first.answer = () => ({ outcome: 'retry', code: 'http_429', retryAfterMs: 90_000 })
    second.answer = third.answer = retry
    await send()
    expect(await send()).toMatchObject({ provider: '3', ...ends('1 provider_waiting', '2 busy', '3 busy') })
  })

  test('failover lists no provider if it asks none', async () => {
    const { channel } = trio()
    const outcome = await channel.send(MESSAGE, context(AbortSignal.abort()))
    expect(outcome).toEqual({ outcome: 'retry', code: 'aborted' })
  })
})

describe('refused arguments of failover', () => {
  const give = 'pass a channel such as email(…), or an object { address(recipient), send(message) }'
  const two = { detail: 'needs at least 2 channels: failover({ ses: …, postmark: … })' }

  test('failover refuses bad channels with all problems at once', () => {
    expect(problemsOf()).toEqual([two])
    expect(problemsOf(plain())).toEqual([two])
    expect(problemsOf({ ...plain(), send: undefined })).toEqual([
      two,
      { field: 'argument 1', detail: `has no send; ${give}` },
    ])
    expect(problemsOf(plain(), null, { ...plain(), address: 'x' })).toEqual([
      { field: 'argument 2', detail: `is null; ${give}` },
      { field: 'argument 3', detail: `has no address; ${give}` },
    ])
    expect(problemsOf(plain(), undefined)).toEqual([{ field: 'argument 2', detail: `is undefined; ${give}` }])
    expect(problemsOf([plain(), plain()])).toEqual([
      { detail: 'got an array of 2; pass the channels without it: failover({ ses: …, postmark: … })' },
    ])
  })

  test('failover refuses an object with fewer than two providers or a bad channel', () => {
    expect(problemsOf({})).toEqual([two])
    expect(problemsOf({ ses: plain() })).toEqual([two])
    expect(problemsOf({ ses: plain(), postmark: { ...plain(), send: 7 } })).toEqual([
      { field: 'postmark', detail: `has no send; ${give}` },
    ])
    expect(problemsOf({ ses: plain(), postmark: undefined })).toEqual([
      { field: 'postmark', detail: `is undefined; ${give}` },
    ])
  })

  test('failover refuses names that JavaScript sorts, and names that cannot be recorded', () => {
    const number = expect.stringContaining('is a number')
    expect(problemsOf({ ses: plain(), 2: plain(), 10: plain() })).toEqual([
      { field: '2', detail: number },
      { field: '10', detail: number },
    ])
    const unreadable = 'has a name that is not 1-64 visible ASCII characters'
    expect(problemsOf({ '': plain(), 'a b': plain(), ä: plain(), ['x'.repeat(65)]: plain() })).toEqual(
      [1, 2, 3, 4].map((place) => ({ field: `provider ${place}`, detail: unreadable })),
    )
    expect(problemsOf({ ['x'.repeat(64)]: plain(), 'eu-1': plain(), '1a': plain() })).toBeUndefined()
  })

  test('failover refuses a failover, a channel that is given twice, and more than 16 channels', () => {
    const one = plain()
    const nested = failover(plain(), plain())
    expect(problemsOf(one, nested)).toEqual([
      { field: 'argument 2', detail: 'is a failover itself: name its channels here instead, in one order' },
    ])
    expect(problemsOf({ ses: one, backup: nested })).toMatchObject([{ field: 'backup' }])
    const same = (place: string) => `is the same channel as ${place}: each provider needs a channel of its own`
    expect(problemsOf(one, plain(), one)).toEqual([{ field: 'argument 3', detail: same('argument 1') }])
    expect(problemsOf({ ses: one, backup: one })).toEqual([{ field: 'backup', detail: same('ses') }])
    const many = (count: number) => Array.from({ length: count }, plain)
    expect(problemsOf(...many(16))).toBeUndefined()
    expect(problemsOf(...many(17))).toEqual([{ detail: 'takes at most 16 channels' }])
  })
})
