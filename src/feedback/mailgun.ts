/**
 * Feedback of Mailgun, proven by its signing key.
 * @module sallyport/feedback/mailgun
 */
import { enhancedStatus } from '../model/enhanced-status.ts'
import { DELIVERY_ID, type FeedbackKind } from '../model/feedback.ts'
import { word } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { FeedbackEvent, FeedbackSource } from '../ports/feedback-source.ts'
import {
  codeOf,
  derivedId,
  feedbackEvent,
  fromSeconds,
  messageIdOf,
  REFUSED,
  receiptOf,
  unknownShape,
} from './feedback-events.ts'
import { hmac, isEqual, sha256, timelyMs } from './proof.ts'
import {
  DEFAULT_TENANT,
  type FeedbackSourceOptions,
  listOf,
  MAX_BODY,
  oneOrMore,
  SOURCE_CHECKS,
  tolerance,
} from './source-options.ts'
import { memberOf, parseJson, scalarText, textAt } from './untrusted-json.ts'

export type { FeedbackSourceOptions } from './source-options.ts'

/** Options of {@link mailgun}. */
export interface MailgunOptions extends FeedbackSourceOptions {
  /** The HTTP webhook signing key of the account. During a rotation: several. */
  readonly signingKey: string | readonly string[]
  /**
   * Requests with an older timestamp are refused: 1 to 604,800. Mailgun repeats requests for 8 hours. Default: 32,400 (9 hours).
   */
  readonly toleranceSeconds?: number
}

const CHECKS: Checks<MailgunOptions> = {
  ...SOURCE_CHECKS,
  signingKey: required(oneOrMore(word)),
  toleranceSeconds: tolerance,
}

/**
 * Reads Mailgun's webhooks.
 *
 * Proof: an HMAC-SHA256 over a timestamp and a token, both in the body of at most 256 KiB. It does not cover the event; therefore each
 * token counts once, as `onceToken`, for all sources with the same signing key. Delivery id: the user variable `sallyport_delivery_id`.
 * Provider message id: the Message-ID, in angle brackets.
 * @throws SallyportError `option_invalid`, with all problems of the options.
 */
export function mailgun(options: MailgunOptions): FeedbackSource {
  const own = readOptions('mailgun', options, CHECKS)
  const { channel, tenant = DEFAULT_TENANT, toleranceSeconds = 32_400 } = own
  const keys = listOf(own.signingKey)
  return {
    ...{ channel, tenant, maxBytes: MAX_BODY },
    async receive({ body, now }) {
      const given = parseJson(body)
      const timestamp = scalarText(memberOf(given, 'signature', 'timestamp'))
      const token = textAt(given, 'signature', 'token')
      const signature = textAt(given, 'signature', 'signature')
      // Also refuses a timestamp that took digits of the token: the signature covers both without a separator.
      const at = timelyMs(timestamp, now, toleranceSeconds)
      if (at === undefined || token === undefined || signature === undefined || !TOKEN.test(token)) return REFUSED
      const key = keys.find((one) => isEqual(signature, hmac('sha256', one, `${timestamp}${token}`).toString('hex')))
      if (key === undefined) return REFUSED
      const event = memberOf(given, 'event-data')
      const receipt = receiptOf(body, [textAt(event, 'event') === undefined ? unknownShape(body) : eventOf(event)])
      const onceAccount = `mailgun ${sha256(key).toString('hex')}`
      return { ...receipt, onceToken: token, onceUntil: at + toleranceSeconds * 1_000, onceAccount }
    },
  }
}

/** Mailgun's tokens have 50 hex digits. */
const TOKEN = /^[\x21-\x7e]{16,128}$/

const KINDS: ReadonlyMap<string, FeedbackKind> = new Map([
  ['delivered', 'delivered'],
  ['rejected', 'bounced'],
  ['complained', 'complained'],
  ['unsubscribed', 'unsubscribed'],
  ['opened', 'opened'],
  ['clicked', 'clicked'],
])

function eventOf(event: unknown): FeedbackEvent {
  const name = textAt(event, 'event') ?? ''
  const kind = kindOf(name, event)
  const [time, messageId, address] = [
    memberOf(event, 'timestamp'),
    messageIdOf(memberOf(event, 'message', 'headers', 'message-id')),
    textAt(event, 'recipient'),
  ]
  return feedbackEvent({
    kind,
    eventId: textAt(event, 'id') ?? derivedId(name, scalarText(time), messageId, address),
    at: fromSeconds(time),
    deliveryId: memberOf(event, 'user-variables', DELIVERY_ID),
    providerMessageId: messageId,
    address,
    isPermanent: name === 'failed' && isDead(event),
    code: codeFor(name, kind, event),
  })
}

/** Mailgun repeats a message after a temporary failure. */
function kindOf(name: string, event: unknown): FeedbackKind {
  if (name === 'failed') return memberOf(event, 'severity') === 'temporary' ? 'delayed' : 'bounced'
  return KINDS.get(name) ?? 'unknown'
}

/** Reasons of a final failure that are about the message, the sender or the time, not the address. */
const NOT_THE_ADDRESS = new Set(['old', 'espblock', 'suppress-unsubscribe', 'suppress-complaint'])

function isDead(event: unknown): boolean {
  return memberOf(event, 'severity') === 'permanent' && !NOT_THE_ADDRESS.has(textAt(event, 'reason') ?? '')
}

function codeFor(name: string, kind: FeedbackKind, event: unknown): string | undefined {
  if (kind === 'unknown') return codeOf(name)
  if (name === 'rejected') return 'rejected'
  if (name !== 'failed') return undefined
  const status = memberOf(event, 'delivery-status')
  return (
    enhancedStatus(memberOf(status, 'enhanced-code')) ??
    enhancedStatus(memberOf(status, 'message')) ??
    codeOf(memberOf(event, 'reason'))
  )
}
