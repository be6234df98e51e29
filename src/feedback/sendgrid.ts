/**
 * Feedback of SendGrid, proven by its signed event webhook.
 * @module sallyport/feedback/sendgrid
 */

import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import { enhancedStatus } from '../model/enhanced-status.ts'
import { DELIVERY_ID, type FeedbackKind } from '../model/feedback.ts'
import { matching } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { FeedbackEvent, FeedbackHead, FeedbackSource } from '../ports/feedback-source.ts'
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
import { timelyMs } from './proof.ts'
import {
  DEFAULT_TENANT,
  type FeedbackSourceOptions,
  listOf,
  oneOrMore,
  SOURCE_CHECKS,
  tolerance,
} from './source-options.ts'
import { memberOf, parseJson, scalarText, textAt } from './untrusted-json.ts'

export type { FeedbackSourceOptions } from './source-options.ts'

/** Options of {@link sendgrid}. */
export interface SendgridOptions extends FeedbackSourceOptions {
  /** The verification key of the signed event webhook: base64, or PEM. During a rotation: several. */
  readonly publicKey: string | readonly string[]
  /**
   * Requests with an older timestamp are refused: 1 to 604,800. SendGrid repeats requests for 24 hours, and repeats are recognised by
   * their event ids. Default: 90,000 (25 hours).
   */
  readonly toleranceSeconds?: number
}

const CHECKS: Checks<SendgridOptions> = {
  ...SOURCE_CHECKS,
  publicKey: required(
    oneOrMore(
      matching((value) => readKey(value) !== undefined, 'must be the verification key: a P-256 public key in base64'),
    ),
  ),
  toleranceSeconds: tolerance,
}

const SIGNATURE = 'x-twilio-email-event-webhook-signature'
const TIMESTAMP = 'x-twilio-email-event-webhook-timestamp'
/** A signature has at most 72 bytes, in base64. */
const IS_SIGNATURE = /^[A-Za-z0-9+/]{8,96}={0,2}$/

/**
 * Reads SendGrid's event webhook.
 *
 * Proof: an ECDSA signature (P-256, SHA-256) over the timestamp and the raw body. Delivery id: the custom argument
 * `sallyport_delivery_id`. Provider message id: the Message-ID of mail sent by SMTP, else the `X-Message-Id` of the API's answer.
 * @throws SallyportError `option_invalid`, with all problems of the options.
 */
export function sendgrid(options: SendgridOptions): FeedbackSource {
  const own = readOptions('sendgrid', options, CHECKS)
  const { channel, tenant = DEFAULT_TENANT, toleranceSeconds = 90_000 } = own
  const keys = listOf(own.publicKey).flatMap((key) => readKey(key) ?? [])
  const head = (request: FeedbackHead): boolean =>
    IS_SIGNATURE.test(request.header(SIGNATURE) ?? '') &&
    timelyMs(request.header(TIMESTAMP), request.now, toleranceSeconds) !== undefined
  return {
    ...{ channel, tenant, head },
    async receive(request) {
      if (!head(request)) return REFUSED
      const { body } = request
      const signed = Buffer.concat([Buffer.from(request.header(TIMESTAMP) ?? ''), body])
      const bytes = Buffer.from(request.header(SIGNATURE) ?? '', 'base64')
      return keys.some((key) => isSigned(key, signed, bytes)) ? receiptOf(body, eventsOf(body)) : REFUSED
    },
  }
}

function readKey(given: unknown): KeyObject | undefined {
  if (typeof given !== 'string') return undefined
  try {
    const key = given.includes('-----BEGIN')
      ? createPublicKey(given)
      : createPublicKey({ key: Buffer.from(given, 'base64'), format: 'der', type: 'spki' })
    return key.asymmetricKeyDetails?.namedCurve === 'prime256v1' ? key : undefined
  } catch {
    return undefined
  }
}

function isSigned(key: KeyObject, signed: Uint8Array, signature: Uint8Array): boolean {
  try {
    return verify('sha256', signed, key, signature)
  } catch {
    return false
  }
}

const KINDS: ReadonlyMap<string, FeedbackKind> = new Map([
  ['delivered', 'delivered'],
  ['deferred', 'delayed'],
  ['bounce', 'bounced'],
  ['dropped', 'bounced'],
  ['spamreport', 'complained'],
  ['open', 'opened'],
  ['click', 'clicked'],
  ['unsubscribe', 'unsubscribed'],
  ['group_unsubscribe', 'unsubscribed'],
])

function* eventsOf(body: Uint8Array): Iterable<FeedbackEvent> {
  const items = parseJson(body)
  if (!Array.isArray(items)) yield unknownShape(body)
  else {
    let bodyId: string | undefined
    for (const [index, item] of items.entries()) {
      const name = textAt(item, 'event')
      if (name !== undefined) yield eventOf(name, item)
      else {
        bodyId ??= derivedId(body)
        yield unknownShape(`${bodyId} ${index}`)
      }
    }
  }
}

function eventOf(name: string, item: unknown): FeedbackEvent {
  const kind = KINDS.get(name) ?? 'unknown'
  const [time, messageId, address] = [memberOf(item, 'timestamp'), textAt(item, 'sg_message_id'), textAt(item, 'email')]
  return feedbackEvent({
    kind,
    eventId: textAt(item, 'sg_event_id') ?? derivedId(name, scalarText(time), messageId, address),
    at: fromSeconds(time),
    deliveryId: memberOf(item, DELIVERY_ID),
    providerMessageId: ownMessageId(item) ?? messageId?.replace(SERVER, ''),
    address,
    isPermanent: isPermanent(item, name),
    code: codeFor(item, kind, name),
  })
}

/** The end of `sg_message_id`, which names the servers that handled the message. The API's answer lacks it. */
const SERVER = /\.(?:filter|recvd).*$/s

/** SendGrid's own Message-IDs, which messages without one get. */
const MADE_BY_SENDGRID = /@(?:[\w.-]*ismtpd[\w.-]*|[\w.-]*geopod[\w.-]*|(?:[\w-]+\.)*sendgrid\.(?:com|net))>$/

/** The Message-ID that the sender gave. */
function ownMessageId(item: unknown): string | undefined {
  const id = messageIdOf(memberOf(item, 'smtp-id'))
  return id === undefined || MADE_BY_SENDGRID.test(id) ? undefined : id
}

/** Reasons for which SendGrid drops messages to an address without trying. */
const DEAD_ADDRESS = new Set(['Bounced Address', 'Invalid'])

/** Classifications of bounces that are about the message or the sender, not the address. */
const NOT_THE_ADDRESS = new Set(['Content', 'Reputation', 'Frequency/Volume', 'Technical'])

/** SendGrid lists the address of a `bounce` and drops later messages; a `blocked` message may be sent again. */
function isPermanent(item: unknown, name: string): boolean {
  if (name === 'dropped') return DEAD_ADDRESS.has(textAt(item, 'reason') ?? '')
  if (textAt(item, 'type') !== 'bounce' || textAt(item, 'status')?.startsWith('4')) return false
  return !NOT_THE_ADDRESS.has(textAt(item, 'bounce_classification') ?? '')
}

function codeFor(item: unknown, kind: FeedbackKind, name: string): string | undefined {
  switch (kind) {
    case 'bounced':
      return name === 'dropped'
        ? codeOf(memberOf(item, 'reason'))
        : (enhancedStatus(memberOf(item, 'status')) ?? codeOf(memberOf(item, 'bounce_classification')))
    case 'delayed':
      return enhancedStatus(memberOf(item, 'response'))
    case 'unknown':
      return codeOf(name)
    default:
      return undefined
  }
}
