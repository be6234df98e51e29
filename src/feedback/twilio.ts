/**
 * Feedback of Twilio, proven by its request signature.
 * @module sallyport/feedback/twilio
 */
import { DELIVERY_ID, type FeedbackKind } from '../model/feedback.ts'
import { TWILIO_REFUSED } from '../model/twilio-errors.ts'
import { word } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import { bareUrl } from '../options/url-checks.ts'
import type { FeedbackEvent, FeedbackHead, FeedbackSource } from '../ports/feedback-source.ts'
import { codeOf, derivedId, feedbackEvent, instantOf, REFUSED, receiptOf, unknownShape } from './feedback-events.ts'
import { hmac, isEqual, sha256 } from './proof.ts'
import {
  DEFAULT_TENANT,
  type FeedbackSourceOptions,
  listOf,
  MAX_BODY,
  oneOrMore,
  SOURCE_CHECKS,
} from './source-options.ts'
import { memberOf, parseJson, scalarText, textAt } from './untrusted-json.ts'

export type { FeedbackSourceOptions } from './source-options.ts'

/** Options of {@link twilio}. */
export interface TwilioOptions extends FeedbackSourceOptions {
  /** The auth token of the account, which signs requests. During a rotation: several. */
  readonly authToken: string | readonly string[]
  /** The public URL of the route as Twilio calls it, without its query: the signature covers it. `http:` only on this machine. */
  readonly url: string
}

const CHECKS: Checks<TwilioOptions> = {
  ...SOURCE_CHECKS,
  authToken: required(oneOrMore(word)),
  url: required(bareUrl),
}

const SIGNATURE = 'x-twilio-signature'
/** An HMAC-SHA1 in base64. */
const IS_SIGNATURE = /^[A-Za-z0-9+/]{27}=$/
/** A status callback has some hundred bytes. Sorting the parameters of a long form, before its proof is known, would hold the loop. */
const MAX_FORM = 16_384

/**
 * Reads Twilio's status callbacks, inbound messages and event streams: forms of at most 16 KiB, and JSON of at most 256 KiB.
 *
 * Proof: an HMAC-SHA1 over the public URL with its query, and the sorted form parameters; for JSON, the query has the SHA-256 of the
 * body. Delivery id: `sallyport_delivery_id` in the query of the `StatusCallback` URL. Provider message id: the message SID.
 * @throws SallyportError `option_invalid`, with all problems of the options.
 */
export function twilio(options: TwilioOptions): FeedbackSource {
  const own = readOptions('twilio', options, CHECKS)
  const { channel, tenant = DEFAULT_TENANT } = own
  const keys = listOf(own.authToken)
  const urls = spellingsOf(own.url)
  const head = (request: FeedbackHead): boolean => IS_SIGNATURE.test(request.header(SIGNATURE) ?? '')
  return {
    ...{ channel, tenant, head, maxBytes: MAX_BODY },
    async receive(request) {
      if (!head(request)) return REFUSED
      const { body, url } = request
      const signature = request.header(SIGNATURE) ?? ''
      const query = queryOf(url)
      const parameters = new URLSearchParams(query)
      const bodyHash = parameters.get('bodySHA256')
      const isForm = bodyHash === null
      if (isForm ? body.byteLength > MAX_FORM : !isEqual(bodyHash, sha256(body).toString('hex'))) return REFUSED
      const form = isForm ? new URLSearchParams(new TextDecoder().decode(body)) : undefined
      const signed = form ? signedText(form) : ''
      const isProven = keys.some((key) =>
        urls.some((one) => isEqual(signature, hmac('sha1', key, one + query + signed).toString('base64'))),
      )
      if (!isProven) return REFUSED
      const deliveryId = parameters.get(DELIVERY_ID) ?? undefined
      return receiptOf(body, form ? [formEvent(form, body, deliveryId)] : cloudEvents(body, deliveryId))
    },
  }
}

/** Twilio signs a URL with or without its default port. */
function spellingsOf(url: string): readonly string[] {
  const [, scheme = '', host = '', port = '', rest = ''] = /^(https?:\/\/)([^/]*?)(:\d+)?(\/.*)?$/i.exec(url) ?? []
  const standard = scheme.toLowerCase() === 'https://' ? ':443' : ':80'
  return [...new Set([url, `${scheme}${host}${port || standard}${rest}`, `${scheme}${host}${rest}`])]
}

function queryOf(url: string): string {
  const [whole = ''] = url.split('#', 1)
  const start = whole.indexOf('?')
  return start < 0 ? '' : whole.slice(start)
}

/** Names and values without separators, sorted by name; equal values of one name count once. */
function signedText(form: URLSearchParams): string {
  const values = new Map<string, Set<string>>()
  for (const [name, value] of form) {
    const known = values.get(name)
    if (known) known.add(value)
    else values.set(name, new Set([value]))
  }
  const names = [...values.keys()].sort()
  return names.flatMap((name) => [...(values.get(name) ?? [])].sort().map((value) => name + value)).join('')
}

const KINDS: ReadonlyMap<string, FeedbackKind> = new Map([
  ['delivered', 'delivered'],
  ['undelivered', 'bounced'],
  ['failed', 'bounced'],
  ['read', 'opened'],
])

interface Status {
  readonly name: string
  readonly sid: string | undefined
  readonly error: string | undefined
  readonly deliveryId: string | undefined
  readonly address: unknown
  readonly eventId?: string | undefined
  readonly at?: number | undefined
}

function statusEvent({ name, sid, error, ...more }: Status): FeedbackEvent {
  const refused = TWILIO_REFUSED.get(error ?? '')
  const kind = refused === 'unsubscribed' ? refused : (KINDS.get(name) ?? 'unknown')
  const failure = error !== undefined && /^\d{1,8}$/.test(error) && error !== '0' ? `twilio_${error}` : codeOf(name)
  return feedbackEvent({
    ...more,
    kind,
    eventId: more.eventId ?? derivedId(sid, name, error),
    providerMessageId: sid,
    isPermanent: refused === 'bounced',
    isOfChannel: true,
    code: kind === 'bounced' || kind === 'unsubscribed' ? failure : kind === 'unknown' ? codeOf(name) : undefined,
  })
}

function formEvent(form: URLSearchParams, body: Uint8Array, deliveryId: string | undefined): FeedbackEvent {
  const field = (name: string): string | undefined => form.get(name) || undefined
  const name = field('MessageStatus') ?? field('SmsStatus')
  const sid = field('MessageSid') ?? field('SmsSid')
  if (name === undefined || sid === undefined) return unknownShape(body)
  if (name === RECEIVED) return inboundEvent(sid, field('From'), field('OptOutType') ?? field('Body'))
  return statusEvent({ name, sid, error: field('ErrorCode'), deliveryId, address: field('To') })
}

const RECEIVED = 'received'
/** Words of the whole text with which a recipient stops or starts again, by Twilio's defaults; `OptOutType` has the first of each. */
const WORDS: ReadonlyMap<string, FeedbackKind> = new Map([
  ...['STOP', 'STOPALL', 'UNSUBSCRIBE', 'CANCEL', 'END', 'QUIT', 'REVOKE', 'OPTOUT'].map(
    (word) => [word, 'unsubscribed'] as const,
  ),
  ...['START', 'YES', 'UNSTOP'].map((word) => [word, 'resubscribed'] as const),
])

/** A text from a recipient, whose number is its sender. */
function inboundEvent(eventId: string, address: string | undefined, text = ''): FeedbackEvent {
  const kind = WORDS.get(text.trim().toUpperCase()) ?? 'unknown'
  const code = kind === 'unknown' ? RECEIVED : undefined
  return feedbackEvent({ kind, eventId, address, isOfChannel: true, code })
}

const MESSAGING = 'com.twilio.messaging.message.'

/** A body of event streams is a list of CloudEvents. */
function* cloudEvents(body: Uint8Array, deliveryId: string | undefined): Iterable<FeedbackEvent> {
  const given = parseJson(body)
  const items: readonly unknown[] = Array.isArray(given) ? given : [given]
  let bodyId: string | undefined
  for (const [index, item] of items.entries()) {
    const [type, eventId, data] = [textAt(item, 'type'), textAt(item, 'id'), memberOf(item, 'data')]
    if (type !== undefined && eventId !== undefined) {
      yield statusEvent({
        name: type.startsWith(MESSAGING) ? type.slice(MESSAGING.length) : type,
        eventId,
        at: instantOf(memberOf(item, 'time')),
        sid: textAt(data, 'messageSid'),
        error: scalarText(memberOf(data, 'errorCode')),
        deliveryId,
        address: memberOf(data, 'to'),
      })
    } else {
      bodyId ??= derivedId(body)
      yield unknownShape(`${bodyId} ${index}`)
    }
  }
}
