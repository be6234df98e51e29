import { getEventListeners } from 'node:events'
import { email } from 'sallyport/channels/email'
import { failover } from 'sallyport/channels/failover'
import { log } from 'sallyport/channels/log'
import { describe, expect, test } from 'vitest'
import type { ChannelTrial } from '../../src/contract-tests/channel-trial.ts'
import type { Channel } from '../../src/ports/channel.ts'
import { webhookTo, webhookTrial } from '../contract-tests/channel-trials.ts'
import { testArguments } from '../options/option-tests.ts'
import { testChannel } from './channel-tests.ts'
import { afterData, inbox, LETTER, transportTo } from './letters.ts'
import { context, message } from './messages.ts'
import { deadPort, refusal, tcpPeer } from './peers.ts'
import { attempts, ends, fails, retry, trio } from './providers.ts'

const MESSAGE = message('ada@example.test', LETTER)

/** A failover of two channels to the same provider. */
async function failoverTrial(): Promise<ChannelTrial> {
  const trial = await webhookTrial()
  const port = Number(new URL(trial.recipient.url ?? '').port)
  return { ...trial, channel: failover(webhookTo(port), webhookTo(port)) }
}

testChannel('failover', failoverTrial)
testArguments('sallyport/channels/failover failover', failover, [[log()], [log(), null]])

describe('one attempt of failover', () => {
  test('failover calls only the first provider while it sends', async () => {
    const { first, asked, send } = trio()
    first.answer = () => ({ outcome: 'sent', providerMessageId: 'm1' })
    expect(await send()).toEqual({ outcome: 'sent', providerMessageId: 'm1', provider: '1', ...ends('1') })
    expect(asked).toEqual(['1'])
  })

  test.each([
    ['gives retry', retry, 'busy'],
    ['throws', fails, 'channel_error'],
  ])('failover calls the next provider when one %s', async (_what, answer, code) => {
    const { first, asked, send } = trio()
    first.answer = answer
    expect(await send()).toEqual({ outcome: 'sent', provider: '2', ...ends(`1 ${code}`, '2') })
    expect(asked).toEqual(['1', '2'])
  })

  test.each(['rejected', 'unknown'])('failover calls no further provider after %s', async (outcome) => {
    const { first, second, asked, send } = trio()
    first.answer = retry
    second.answer = () => ({ outcome, code: 'so_it_is' })
    expect(await send()).toEqual({ outcome, code: 'so_it_is', provider: '2', ...ends('1 busy', '2 so_it_is') })
    expect(asked).toEqual(['1', '2'])
  })

  test('failover gives retry with the last code and the shortest wait if no provider sent', async () => {
    const { first, second, third, send } = trio()
    first.answer = () => ({ outcome: 'retry', code: 'http_503', retryAfterMs: 9_000 })
    second.answer = () => ({ outcome: 'retry', code: 'http_429', retryAfterMs: 4_000 })
    third.answer = () => ({ outcome: 'retry', code: 'busy', retryAfterMs: 7_000 })
    expect(await send()).toEqual({
      ...{ outcome: 'retry', code: 'busy', provider: '3', retryAfterMs: 4_000 },
      ...ends('1 http_503', '2 http_429', '3 busy'),
    })
  })

  test('failover asks for no wait if one provider asked for none', async () => {
    const { first, second, third, send } = trio()
    first.answer = () => ({ outcome: 'retry', code: 'http_503', retryAfterMs: 9_000 })
    second.answer = retry
    third.answer = () => ({ outcome: 'retry', code: 'http_429', retryAfterMs: 4_000 })
    expect(await send()).toEqual({
      ...{ outcome: 'retry', code: 'http_429', provider: '3' },
      ...ends('1 http_503', '2 busy', '3 http_429'),
    })
  })

  test('failover asks for no wait if no provider asked for one', async () => {
    const { first, second, third, send } = trio()
    first.answer = retry
    second.answer = () => ({ outcome: 'retry', code: 'busy', retryAfterMs: Number.NaN })
    third.answer = fails
    expect(await send()).toStrictEqual({
      outcome: 'retry',
      code: 'channel_error',
      provider: '3',
      cause: new Error('boom'),
      ...ends('1 busy', '2 busy', '3 channel_error'),
    })
  })

  test.each([undefined, null, 'sent', {}, { outcome: 'done' }])(
    'failover gives unknown for the invalid answer %j',
    async (answer) => {
      const { first, asked, send } = trio()
      first.answer = () => answer
      expect(await send()).toMatchObject({ outcome: 'unknown', code: 'outcome_invalid', provider: '1' })
      expect(asked).toEqual(['1'])
    },
  )

  test('failover calls no provider after an abort', async () => {
    const { first, asked, channel } = trio()
    const lease = new AbortController()
    first.answer = () => {
      lease.abort()
      return { outcome: 'retry', code: 'aborted' }
    }
    expect(await channel.send(MESSAGE, context(lease.signal))).toEqual({
      outcome: 'retry',
      code: 'aborted',
      provider: '1',
      ...ends('1 aborted'),
    })
    expect(asked).toEqual(['1'])
    expect(await channel.send(MESSAGE, context(lease.signal))).toEqual({ outcome: 'retry', code: 'aborted' })
    expect(asked).toEqual(['1'])
  })

  test('failover gives unknown if a provider throws after an abort', async () => {
    const { first, asked, channel } = trio()
    const lease = new AbortController()
    first.answer = () => {
      lease.abort()
      return fails()
    }
    const outcome = await channel.send(MESSAGE, context(lease.signal))
    expect(outcome).toEqual({ outcome: 'unknown', code: 'aborted', provider: '1', ...ends('1 aborted') })
    expect(asked).toEqual(['1'])
  })

  test('failover gives unknown from a provider that ignores the abort', async () => {
    const { first, second, asked, channel, send } = trio()
    first.answer = retry
    second.answer = () => new Promise(() => {})
    const lease = new AbortController()
    const outcome = channel.send(MESSAGE, context(lease.signal))
    await new Promise(setImmediate)
    lease.abort()
    expect(await outcome).toEqual({
      outcome: 'unknown',
      code: 'aborted',
      provider: '2',
      ...ends('1 busy', '2 aborted'),
    })
    expect(asked).toEqual(['1', '2'])
    second.answer = () => ({ outcome: 'sent' })
    await send({ outcome: 'unknown', provider: '2' })
    expect(asked).toEqual(['2'])
  })

  test.each([
    ['answers', () => ({ outcome: 'sent' })],
    ['does not send', retry],
    ['throws', fails],
  ])('failover leaves no listener on the signal when a provider %s', async (_what, answer) => {
    const { first, channel } = trio()
    first.answer = answer
    const { signal } = new AbortController()
    await channel.send(MESSAGE, context(signal))
    expect(getEventListeners(signal, 'abort')).toEqual([])
  })

  test('failover passes the message and its context on unchanged', async () => {
    const { first, channel } = trio()
    const given: unknown[] = []
    first.send = async (...all) => {
      given.push(...all)
      return { outcome: 'sent' }
    }
    const asIs = context(undefined, attempts({ outcome: 'retry', provider: '2' }))
    await channel.send(MESSAGE, asIs)
    expect(given[0]).toBe(MESSAGE)
    expect(given[1]).toBe(asIs)
  })
})

describe('failover over SMTP', () => {
  const from = 'shop@example.com'
  const both = (first: number, second: number) =>
    failover(email(transportTo(first), { from }), email(transportTo(second), { from }))

  test.each([
    ['that defers the mail', async () => (await inbox({ onRcptTo: (_a, _s, done) => done(refusal(451)) })).port],
    ['that is down', deadPort],
  ])('The second server gets the mail instead of one %s', async (_what, broken) => {
    const { port, letters, recipients } = await inbox()
    const channel = both(await broken(), port)
    expect(await channel.send(MESSAGE, context())).toMatchObject({ outcome: 'sent', provider: '2' })
    expect(recipients).toEqual(['ada@example.test'])
    expect(letters).toHaveLength(1)
  })

  test('A mail that the channel refuses without asking a server is said to be so', async () => {
    const [one, other] = [await inbox(), await inbox()]
    const mail = (port: number): Channel => email(transportTo(port), { from: 'shop@example.com' })
    const outcome = await failover(mail(one.port), mail(other.port)).send(
      message('a%b@example.test', LETTER),
      context(),
    )
    expect(outcome).toMatchObject({ outcome: 'rejected', code: 'address_invalid', by: 'channel' })
    expect([...one.recipients, ...other.recipients]).toEqual([])
  })

  test('A mail that the first server rejected does not reach the second', async () => {
    const { port, letters } = await inbox()
    const refusing = await inbox({ onRcptTo: (_a, _s, done) => done(refusal(550)) })
    const outcome = await both(refusing.port, port).send(MESSAGE, context())
    expect(outcome).toEqual({ outcome: 'rejected', code: 'smtp_550', provider: '1', ...ends('1 smtp_550') })
    expect(letters).toHaveLength(0)
  })

  test('A server that breaks off after the mail gets it again with the same Message-ID', async () => {
    const { port, letters } = await inbox()
    const taken: string[] = []
    const breaking = await tcpPeer(
      afterData((socket, seen) => {
        taken.push(seen)
        if (taken.length === 1) socket.destroy()
        else socket.write('250 accepted\r\n')
      }),
    )
    const channel = both(breaking, port)
    const outcome = await channel.send(MESSAGE, context())
    expect(outcome).toEqual({
      outcome: 'unknown',
      code: 'connection_lost',
      provider: '1',
      ...ends('1 connection_lost'),
    })
    const again = await channel.send(MESSAGE, context(undefined, attempts({ outcome: 'unknown', provider: '1' })))
    expect(again).toMatchObject({ outcome: 'sent', provider: '1' })
    expect(taken.map((mail) => /^Message-ID: (.*)$/im.exec(mail)?.[1])).toEqual(Array(2).fill('<dlv_1@example.com>'))
    expect(letters).toHaveLength(0)
  })
})

describe('the failover channel', () => {
  const plain: Channel = { address: () => undefined, send: async () => ({ outcome: 'sent' }) }

  test('failover takes the address of the first channel that has one', () => {
    const byMail: Channel = { ...plain, address: ({ email }) => email }
    const byId: Channel = { ...plain, address: ({ id }) => id }
    const ada = { id: 'ada', email: 'ada@example.test' }
    expect(failover(plain, byMail, byId).address(ada)).toBe('ada@example.test')
    expect(failover(plain, byId).address(ada)).toBe('ada')
    expect(failover(plain, { ...plain }).address(ada)).toBeUndefined()
    for (const nowhere of ['', null as never]) {
      expect(failover({ ...plain, address: () => nowhere }, byId).address(ada)).toBe('ada')
    }
  })

  test('failover has the retry schedule and the concurrency key of the first channel', () => {
    class Grouped {
      readonly prefix = 'at:'
      readonly retrySchedule = [7]
      address = plain.address
      send = plain.send
      concurrencyKey(address: string) {
        return `${this.prefix}${address}`
      }
    }
    const channel = failover(new Grouped(), { ...plain, retrySchedule: [8], concurrencyKey: () => 'x' })
    expect(channel.retrySchedule).toEqual([7])
    expect(channel.concurrencyKey?.('a')).toBe('at:a')
    const without = failover(plain, new Grouped())
    expect(without).not.toHaveProperty('retrySchedule')
    expect(without).not.toHaveProperty('concurrencyKey')
  })

  test('failover checks fields with all channels and names each problem once', () => {
    const wants = (problem: string | readonly string[] | undefined): Channel => ({
      ...plain,
      checkFields: () => problem,
    })
    const channel = failover(wants('needs text'), plain, wants(undefined), wants(['no html', 'needs text']), wants([]))
    expect(channel.checkFields?.([])).toEqual(['needs text', 'no html'])
    expect(failover(plain, wants(undefined)).checkFields?.([])).toEqual([])
  })
})
