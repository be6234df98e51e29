import type { Channel, OutboundMessage, SendContext, SendOutcome } from '../../src/ports/channel.ts'

/** A channel that keeps what it was given, and answers as it is told: with each outcome once, then with the last for ever. */
export interface RecordingChannel extends Channel {
  readonly sent: (OutboundMessage & Pick<SendContext, 'deliveryId' | 'attempt'>)[]
}

type Answer = SendOutcome | ((message: OutboundMessage, context: SendContext) => Promise<SendOutcome>)

export function recordingChannel(
  answers: readonly Answer[] = [{ outcome: 'sent', providerMessageId: 'p1' }],
  rest: Partial<Channel> = {},
): RecordingChannel {
  const left = [...answers]
  const sent: RecordingChannel['sent'] = []
  return {
    sent,
    address: (recipient) => recipient.email,
    async send(message, context) {
      const { deliveryId, attempt } = context
      sent.push({ ...message, deliveryId, attempt })
      const answer = left.length > 1 ? left.shift() : left[0]
      if (!answer) throw new Error('no answer was given')
      return typeof answer === 'function' ? answer(message, context) : answer
    },
    ...rest,
  }
}
