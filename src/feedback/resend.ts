/**
 * Feedback of Resend, proven by Svix signatures.
 * @module sallyport/feedback/resend
 */

import { timingSafeEqual } from 'node:crypto'
import { enhancedStatus } from '../model/enhanced-status.ts'
import { DELIVERY_ID, type FeedbackKind } from '../model/feedback.ts'
import { like } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { FeedbackEvent, FeedbackHead, FeedbackSource } from '../ports/feedback-source.ts'
import { codeOf, feedbackEvent, instantOf, REFUSED, receiptOf, unknownShape } from './feedback-events.ts'
import { hmac, timelyMs } from './proof.ts'
import {
  DEFAULT_TENANT,
  type FeedbackSourceOptions,
  listOf,
  MAX_BODY,
  oneOrMore,
  SOURCE_CHECKS,
  tolerance,
} from './source-options.ts'
import { itemsAt, memberOf, parseJson, textAt } from './untrusted-json.ts'

export type { FeedbackSourceOptions } from './source-options.ts'

/** Options of {@link resend}. */
export interface ResendOptions extends FeedbackSourceOptions {
  /** The signing secret of the webhook, `whsec_` and base64. During a rotation: several. */
  readonly secret: string | readonly string[]
  /** Requests with an older timestamp are refused: 1 to 604,800. Each repetition has a new timestamp. Default: 300. */
  readonly toleranceSeconds?: number
}

const SECRET = /^whsec_(?=[A-Za-z0-9+/]{22})(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2,3})?={0,2}$/

const CHECKS: Checks<ResendOptions> = {
  ...SOURCE_CHECKS,
  secret: required(oneOrMore(like(SECRET, 'must be the signing secret: whsec_ and base64 of 16 bytes or more'))),
  toleranceSeconds: tolerance,
}

/**
 * Reads Resend's webhooks.
 *
 * Proof: an HMAC-SHA256 by Svix over `svix-id`, `svix-timestamp` and the raw body. Delivery id: the tag `sallyport_delivery_id`. Provider
 * message id: the `id` of the API's answer.
 * @throws SallyportError `option_invalid`, with all problems of the options.
 */
export function resend(options: ResendOptions): FeedbackSource {
  const own = readOptions('resend', options, CHECKS)
  const { channel, tenant = DEFAULT_TENANT, toleranceSeconds = 300 } = own
  const keys = listOf(own.secret).map((secret) => Buffer.from(secret.slice('whsec_'.length), 'base64'))
  const signedHead = (request: FeedbackHead): SignedHead | undefined => {
    const [id, timestamp] = [request.header('svix-id'), request.header('svix-timestamp')]
    const given = signaturesOf(request.header('svix-signature'))
    const isTimely = timelyMs(timestamp, request.now, toleranceSeconds) !== undefined
    return id && isTimely && given.length > 0 ? { id, signed: `${id}.${timestamp}.`, given } : undefined
  }
  return {
    ...{ channel, tenant, maxBytes: MAX_BODY },
    head: (request) => signedHead(request) !== undefined,
    async receive(request) {
      const { body } = request
      const head = signedHead(request)
      if (!head) return REFUSED
      const expected = keys.map((key) => hmac('sha256', key, head.signed, body))
      const isProven = expected.some((one) => head.given.some((other) => timingSafeEqual(one, other)))
      return isProven ? receiptOf(body, [eventOf(head.id, body)]) : REFUSED
    },
  }
}

interface SignedHead {
  readonly id: string
  /** The text before the body that the signature covers. */
  readonly signed: string
  readonly given: readonly Buffer[]
}

const DIGEST_BYTES = 32
/** A header of more entries is cut: each is compared. */
const MAX_SIGNATURES = 16

/** The signatures of version 1 in the header, of the length of a digest. */
function signaturesOf(header: string | undefined): readonly Buffer[] {
  const entries = header?.split(' ', MAX_SIGNATURES) ?? []
  return entries.flatMap((entry) => {
    const bytes = entry.startsWith('v1,') ? Buffer.from(entry.slice(3), 'base64') : undefined
    return bytes?.length === DIGEST_BYTES ? [bytes] : []
  })
}

const KINDS: ReadonlyMap<string, FeedbackKind> = new Map([
  ['email.delivered', 'delivered'],
  ['email.delivery_delayed', 'delayed'],
  ['email.bounced', 'bounced'],
  ['email.failed', 'bounced'],
  ['email.suppressed', 'bounced'],
  ['email.complained', 'complained'],
  ['email.opened', 'opened'],
  ['email.clicked', 'clicked'],
])

function eventOf(eventId: string, body: Uint8Array): FeedbackEvent {
  const given = parseJson(body)
  const name = textAt(given, 'type')
  if (name === undefined) return { ...unknownShape(body), eventId: feedbackEvent({ kind: 'unknown', eventId }).eventId }
  const data = memberOf(given, 'data')
  const kind = kindOf(name, data)
  return feedbackEvent({
    kind,
    eventId,
    at: instantOf(memberOf(given, 'created_at')),
    deliveryId: deliveryIdIn(memberOf(data, 'tags')),
    providerMessageId: memberOf(data, 'email_id'),
    address: addressIn(data),
    isPermanent: isPermanent(name, data),
    code: codeFor(name, kind, data),
  })
}

function kindOf(name: string, data: unknown): FeedbackKind {
  if (name === 'contact.updated') return memberOf(data, 'unsubscribed') === true ? 'unsubscribed' : 'unknown'
  return KINDS.get(name) ?? 'unknown'
}

/** Tags are an object, or a list of `{ name, value }`. */
function deliveryIdIn(tags: unknown): unknown {
  if (!Array.isArray(tags)) return memberOf(tags, DELIVERY_ID)
  return memberOf(
    tags.find((tag) => memberOf(tag, 'name') === DELIVERY_ID),
    'value',
  )
}

/** The address, unless the message has several: the event does not say which one it is about. */
function addressIn(data: unknown): unknown {
  const to = itemsAt(data, 'to')
  return to.length === 1 ? to[0] : memberOf(data, 'email')
}

/** Early events of Resend have no type of bounce: they count as temporary. */
function isPermanent(name: string, data: unknown): boolean {
  return name === 'email.suppressed' || (name === 'email.bounced' && memberOf(data, 'bounce', 'type') === 'Permanent')
}

function codeFor(name: string, kind: FeedbackKind, data: unknown): string | undefined {
  if (kind === 'unknown') return codeOf(name)
  if (name === 'email.suppressed') return codeOf(memberOf(data, 'suppressed', 'type')) ?? 'suppressed'
  if (name === 'email.failed') return codeOf(memberOf(data, 'failed', 'reason')) ?? 'failed'
  if (kind !== 'bounced') return undefined
  return enhancedStatus(memberOf(data, 'bounce', 'message')) ?? codeOf(memberOf(data, 'bounce', 'subType'))
}
