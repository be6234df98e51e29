import { arrayOf, fn, matching, schedule } from '../options/checks.ts'
import { type Checks, faultOf, problemsAt, readOptions } from '../options/read-options.ts'
import type { Channel, OutboundMessage, SendContext, SendOutcome } from '../ports/channel.ts'

/** A message passed to `send`, with its delivery and attempt. */
export type RecordedMessage = OutboundMessage & Pick<SendContext, 'deliveryId' | 'attempt'>

/** An outcome, or a function that returns one. The function may throw or be slow. */
export type ScriptedOutcome = SendOutcome | ((message: OutboundMessage, context: SendContext) => Promise<SendOutcome>)

/** A channel that sends nothing and records its messages. */
export interface RecordingChannel extends Channel {
  /** Oldest first. */
  readonly sent: RecordedMessage[]
}

const CHECKS: Checks<Partial<Channel>> = {
  address: fn,
  send: fn,
  retrySchedule: schedule,
  concurrencyKey: fn,
  copies: fn,
  checkFields: fn,
}

const SCRIPT = arrayOf(
  matching(
    (value) => typeof value === 'function' || typeof Object(value).outcome === 'string',
    'must be an outcome, or a function that gives one',
  ),
)

/**
 * A channel for tests. It reaches every recipient, by mail address or else by id.
 * @param outcomes Each is returned once, and the last one from then on; if empty, `send` throws. Default: every message is `sent`.
 * @param rest Replaces members of the channel.
 * @throws {SallyportError} `option_invalid`, with all problems of the arguments.
 */
export function recordingChannel(
  outcomes: readonly ScriptedOutcome[] = [{ outcome: 'sent', providerMessageId: 'p1' }],
  rest: Partial<Channel> = {},
): RecordingChannel {
  const own = readOptions('recordingChannel', rest, CHECKS, () => problemsAt('outcomes', faultOf(outcomes, SCRIPT)))
  const left = [...outcomes]
  const sent: RecordedMessage[] = []
  return {
    sent,
    address: ({ email, id }) => email ?? id,
    async send(message, context) {
      const { deliveryId, attempt } = context
      sent.push({ ...message, deliveryId, attempt })
      const outcome = left.length > 1 ? left.shift() : left[0]
      if (!outcome) throw new Error('no outcome was given')
      return typeof outcome === 'function' ? outcome(message, context) : outcome
    },
    ...own,
  }
}
