import { describe, expect, it } from 'vitest'
import { channelContract } from '../../src/contract-tests/channel-contract.ts'
import type { ChannelTrial } from '../../src/contract-tests/channel-trial.ts'
import { recordingChannel } from '../../src/contract-tests/recording-channel.ts'
import type { Channel, SendOutcome } from '../../src/ports/channel.ts'
import { ALWAYS_SENDS, testChannel } from '../channels/channel-tests.ts'
import { webhookTrial } from './channel-trials.ts'

function recordingTrial(): ChannelTrial {
  const channel = recordingChannel()
  return {
    channel,
    recipient: { id: 'u1' },
    content: (word) => ({ text: `It is ${word}` }),
    received: () =>
      channel.sent.map(({ content, deliveryId }) => ({ text: JSON.stringify(content), idempotencyKey: deliveryId })),
  }
}

testChannel('recordingChannel', recordingTrial, ALWAYS_SENDS)

/** Replaces the send of a channel. */
function sending(send: (trial: ChannelTrial, ...given: Parameters<Channel['send']>) => Promise<SendOutcome>) {
  return (trial: ChannelTrial): ChannelTrial => ({
    ...trial,
    channel: { ...trial.channel, send: (message, context) => send(trial, message, context) },
  })
}

function having(rest: Partial<Channel>) {
  return (trial: ChannelTrial): ChannelTrial => ({ ...trial, channel: { ...trial.channel, ...rest } })
}

const ARRIVES_ONCE = 'a sent message arrives once, with its content'
const REJECTED = 'a failure of the kind rejected gives the outcome rejected, without secrets, and later sends succeed'
const UNKNOWN = 'a failure of the kind unknown gives the outcome unknown, without secrets, and later sends succeed'

/** Plausible bugs of a channel, and the case that must catch each. */
const BUGS: readonly { it: string; plant: (trial: ChannelTrial) => ChannelTrial; caughtBy: string }[] = [
  {
    it: 'returns another address each time',
    plant(trial) {
      let times = 0
      return having({ address: () => `${trial.recipient.url}?${times++}` })(trial)
    },
    caughtBy: 'a reachable recipient has the same address every time',
  },
  {
    it: 'returns an empty address for unreachable recipients',
    plant: having({ address: ({ url }) => url ?? '' }),
    caughtBy: 'an unreachable recipient has no address',
  },
  {
    it: 'sends another idempotency key with each attempt',
    plant(trial) {
      let times = 0
      return sending(({ channel }, message, context) =>
        channel.send(message, { ...context, deliveryId: `${context.deliveryId}_${times++}` }),
      )(trial)
    },
    caughtBy: 'the idempotency key is the same for all attempts of a delivery, and unique to it',
  },
  {
    it: 'sends the same idempotency key with everything',
    plant: sending(({ channel }, message, context) => channel.send(message, { ...context, deliveryId: 'dlv' })),
    caughtBy: 'the idempotency key is the same for all attempts of a delivery, and unique to it',
  },
  {
    it: 'shares the current message between sends',
    plant(trial) {
      let next: Parameters<Channel['send']>[0]
      return sending(async ({ channel }, message, context) => {
        next = message
        await Promise.resolve()
        return channel.send(next, context)
      })(trial)
    },
    caughtBy: 'concurrent sends stay separate',
  },
  {
    it: 'sends twice',
    plant: sending(async ({ channel }, message, context) => {
      await channel.send(message, context)
      return channel.send(message, context)
    }),
    caughtBy: ARRIVES_ONCE,
  },
  {
    it: 'returns the text of the provider as code',
    plant: sending(async ({ channel }, message, context) => {
      const outcome = await channel.send(message, context)
      return outcome.outcome === 'rejected' ? { ...outcome, code: 'Mailbox is full' } : outcome
    }),
    caughtBy: REJECTED,
  },
  {
    it: 'throws an error that contains its secret',
    plant: sending(async ({ channel, secrets = [] }, message, context) => {
      const outcome = await channel.send(message, context)
      if (outcome.outcome !== 'sent') throw new Error('refused', { cause: { headers: { key: secrets[0] } } })
      return outcome
    }),
    caughtBy: REJECTED,
  },
  {
    it: 'throws when the message may have been sent',
    plant: sending(async ({ channel }, message, context) => {
      const outcome = await channel.send(message, context)
      if (outcome.outcome !== 'sent') throw new Error('broken')
      return outcome
    }),
    caughtBy: UNKNOWN,
  },
  {
    it: 'ignores its abort signal',
    plant: sending(({ channel }, message, context) =>
      channel.send(message, { ...context, signal: new AbortController().signal }),
    ),
    caughtBy: 'send does nothing when its signal is aborted before',
  },
  {
    it: 'treats an aborted send as not sent',
    plant: sending(async ({ channel }, message, context) => {
      const outcome = await channel.send(message, context)
      return context.signal.aborted ? { outcome: 'retry', code: 'aborted' } : outcome
    }),
    caughtBy: 'send that is aborted after the provider took the message returns unknown',
  },
  {
    it: 'has a retry schedule that descends',
    plant: having({ retrySchedule: [5_000, 1_000] }),
    caughtBy: 'a retry schedule has ascending delays in milliseconds',
  },
  {
    it: 'rejects the fields that it sends',
    plant: having({ checkFields: (fields) => (fields.includes('data') ? 'unknown field data' : undefined) }),
    caughtBy: 'checkFields accepts the fields that the channel sends',
  },
]

describe('channelContract', () => {
  it.each(BUGS)('channelContract catches an implementation that $it', async ({ plant, caughtBy }) => {
    const cases = new Map<string, () => Promise<void>>()
    channelContract({ test: (name, body) => cases.set(name, body), create: async () => plant(await webhookTrial()) })
    await expect(cases.get(caughtBy)?.()).rejects.toThrow(expect.objectContaining({ name: 'AssertionError' }))
  })
})

describe('a recording channel', () => {
  const ids = { dispatchId: 'd', tenant: 't', recipient: 'u' }
  const message = { to: 'a', content: {}, eventType: 'e', ...ids, createdAt: 0 }
  const context = { deliveryId: 'dlv', attempt: 2, history: [], signal: new AbortController().signal }

  it('recordingChannel records messages with the delivery and the attempt', async () => {
    const channel = recordingChannel()
    expect(await channel.send(message, context)).toEqual({ outcome: 'sent', providerMessageId: 'p1' })
    expect(channel.sent).toEqual([{ ...message, deliveryId: 'dlv', attempt: 2 }])
  })

  it('recordingChannel returns each outcome once, then the last one always', async () => {
    const busy = async (): Promise<SendOutcome> => ({ outcome: 'retry', code: 'busy' })
    const channel = recordingChannel([{ outcome: 'unknown', code: 'timeout' }, busy])
    const outcomes = []
    for (let times = 0; times < 3; times++) outcomes.push((await channel.send(message, context)).outcome)
    expect(outcomes).toEqual(['unknown', 'retry', 'retry'])
    await expect(recordingChannel([]).send(message, context)).rejects.toThrow('no outcome')
  })

  it('recordingChannel reaches every recipient by mail address or id by default', () => {
    expect(recordingChannel().address({ id: 'u', email: 'a@example.test' })).toBe('a@example.test')
    expect(recordingChannel().address({ id: 'u' })).toBe('u')
    expect(recordingChannel([], { address: () => undefined }).address({ id: 'u' })).toBeUndefined()
  })
})
