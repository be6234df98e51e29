/**
 * Feedback of Postmark, proven by basic authentication.
 * @module sallyport/feedback/postmark
 */
import { enhancedStatus } from '../model/enhanced-status.ts'
import { DELIVERY_ID, type FeedbackKind } from '../model/feedback.ts'
import { like, word } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { FeedbackEvent, FeedbackHead, FeedbackSource } from '../ports/feedback-source.ts'
import { codeOf, derivedId, feedbackEvent, instantOf, REFUSED, receiptOf, unknownShape } from './feedback-events.ts'
import { isEqual } from './proof.ts'
import { DEFAULT_TENANT, type FeedbackSourceOptions, SOURCE_CHECKS } from './source-options.ts'
import { memberOf, parseJson, scalarText, textAt } from './untrusted-json.ts'

export type { FeedbackSourceOptions } from './source-options.ts'

/** Options of {@link postmark}. */
export interface PostmarkOptions extends FeedbackSourceOptions {
  /** User name in the URL of the webhook. No `:`. */
  readonly username: string
  /** Password in the URL of the webhook. */
  readonly password: string
}

const CHECKS: Checks<PostmarkOptions> = {
  ...SOURCE_CHECKS,
  username: required(like(/^[^:]+$/, 'must be a non-empty string without ":"')),
  password: required(word),
}

/** Postmark allows 20 characters for a name. */
const SHORT_DELIVERY_ID = 'sallyport_delivery'
/** More fields of metadata are not searched. */
const MAX_METADATA = 100

/**
 * Reads Postmark's webhooks.
 *
 * Proof: basic authentication, which covers neither the body nor the time; use https. Delivery id: the metadata field
 * `sallyport_delivery` (Postmark's names have at most 20 characters). Provider message id: the `MessageID` of the API's answer.
 * @throws SallyportError `option_invalid`, with all problems of the options.
 */
export function postmark(options: PostmarkOptions): FeedbackSource {
  const { channel, tenant = DEFAULT_TENANT, username, password } = readOptions('postmark', options, CHECKS)
  const expected = Buffer.from(`${username}:${password}`)
  const head = (request: FeedbackHead): boolean => {
    const [, token] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(request.header('authorization') ?? '') ?? []
    return token !== undefined && isEqual(Buffer.from(token, 'base64'), expected)
  }
  return {
    ...{ channel, tenant, head },
    async receive(request) {
      return head(request) ? receiptOf(request.body, [eventOf(request.body)]) : REFUSED
    },
  }
}

function eventOf(body: Uint8Array): FeedbackEvent {
  const given = parseJson(body)
  const name = textAt(given, 'RecordType')
  if (name === undefined) return unknownShape(body)
  const { kind, code, isPermanent = false } = meaningOf(name, given)
  const [time, messageId, address] = [
    textAt(given, TIME_OF.get(name) ?? 'BouncedAt'),
    textAt(given, 'MessageID'),
    textAt(given, 'Email') ?? textAt(given, 'Recipient'),
  ]
  return feedbackEvent({
    kind,
    eventId: derivedId(name, scalarText(memberOf(given, 'ID')), time, messageId, address, kind),
    at: instantOf(time),
    deliveryId: deliveryIdIn(memberOf(given, 'Metadata')),
    providerMessageId: messageId,
    address,
    isPermanent,
    code,
  })
}

/** Names of metadata are compared without case: mail libraries change that of `X-PM-Metadata-sallyport_delivery`. */
function deliveryIdIn(metadata: unknown): unknown {
  const names = typeof metadata === 'object' && metadata !== null ? Object.keys(metadata).slice(0, MAX_METADATA) : []
  const name = [SHORT_DELIVERY_ID, DELIVERY_ID].flatMap((own) => names.filter((one) => one.toLowerCase() === own))[0]
  return name === undefined ? undefined : memberOf(metadata, name)
}

const TIME_OF: ReadonlyMap<string, string> = new Map([
  ['Delivery', 'DeliveredAt'],
  ['Open', 'ReceivedAt'],
  ['Click', 'ReceivedAt'],
  ['SubscriptionChange', 'ChangedAt'],
])

interface Meaning {
  readonly kind: FeedbackKind
  readonly isPermanent?: boolean
  readonly code?: string | undefined
}

function meaningOf(name: string, given: unknown): Meaning {
  switch (name) {
    case 'Delivery':
      return { kind: 'delivered' }
    case 'Open':
      return { kind: 'opened' }
    case 'Click':
      return { kind: 'clicked' }
    case 'SpamComplaint':
      return { kind: 'complained' }
    case 'SubscriptionChange':
      return subscriptionMeaning(given)
    case 'Bounce':
      return bounceMeaning(given)
    default:
      return { kind: 'unknown', code: codeOf(name) }
  }
}

function subscriptionMeaning(given: unknown): Meaning {
  if (memberOf(given, 'SuppressSending') !== true) return { kind: 'unknown', code: 'subscription_change' }
  const reason = textAt(given, 'SuppressionReason')
  if (reason === 'HardBounce') return { kind: 'bounced', isPermanent: true, code: 'hard_bounce' }
  return { kind: reason === 'SpamComplaint' ? 'complained' : 'unsubscribed' }
}

const PERMANENT = new Set(['HardBounce', 'BadEmailAddress'])

/** Types of bounces that are no failed delivery. */
const OTHER_KINDS: ReadonlyMap<string, FeedbackKind> = new Map([
  ['Transient', 'delayed'],
  ['Unsubscribe', 'unsubscribed'],
  ['SpamComplaint', 'complained'],
  ['Subscribe', 'unknown'],
  ['AutoResponder', 'unknown'],
  ['AddressChange', 'unknown'],
  ['ChallengeVerification', 'unknown'],
  ['OpenRelayTest', 'unknown'],
  ['Unconfirmed', 'unknown'],
  ['InboundError', 'unknown'],
])

function bounceMeaning(given: unknown): Meaning {
  const type = textAt(given, 'Type') ?? ''
  const kind = OTHER_KINDS.get(type) ?? 'bounced'
  const word = codeOf(type)
  if (kind !== 'bounced') return { kind, code: kind === 'delayed' || kind === 'unknown' ? word : undefined }
  return { kind, isPermanent: PERMANENT.has(type), code: enhancedStatus(memberOf(given, 'Details')) ?? word }
}
