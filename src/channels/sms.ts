/**
 * Text messages over the HTTP API of Twilio or a compatible one.
 * @module sallyport/channels/sms
 */
import type { ConfigProblem } from '../errors.ts'
import { DELIVERY_ID } from '../model/feedback.ts'
import { isPhoneNumber } from '../model/recipient.ts'
import { TWILIO_REFUSED } from '../model/twilio-errors.ts'
import { clock, fn, like, schedule, timeout, whole, word } from '../options/checks.ts'
import { type Checks, type GivenOptions, nested, readOptions, required } from '../options/read-options.ts'
import { bareUrl } from '../options/url-checks.ts'
import type { Channel, OutboundMessage, SendContext, SendOutcome } from '../ports/channel.ts'
import type { Clock } from '../ports/clock.ts'
import { systemClock } from '../runtime/system-clock.ts'
import { isConnectFault, isLostConnection } from './connect-fault.ts'
import { fieldFaults, notText, plainText } from './message-content.ts'
import { refused } from './refused.ts'
import { retryAfterMs } from './retry-after.ts'
import { composeText, segmentCount } from './sms-segments.ts'

/** Options of {@link sms}. Give `authToken` or `apiKey`, and `from` or `messagingServiceSid`. */
export interface SmsOptions {
  /** The account, `AC…`. */
  readonly accountSid: string
  readonly authToken?: string
  /** Instead of `authToken`: can be revoked alone. */
  readonly apiKey?: { readonly sid: string; readonly secret: string }
  /** Sender: an E.164 number, a short code or an alphanumeric name. */
  readonly from?: string
  /** Instead of `from`: a pool of senders from which the provider chooses. */
  readonly messagingServiceSid?: string
  /** Base URL of the API; `http:` only on this machine. Default: `https://api.twilio.com`. */
  readonly baseUrl?: string
  /** Default: the global `fetch`, looked up for each message. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
  /**
   * Public URL of the route of `twilio()`, to which Twilio reports what became of each message; the delivery id is added to its query.
   * `http:` only on this machine. Default: none, or that of the messaging service.
   */
  readonly statusCallback?: string
  /** Longer texts are not sent (`too_long`): each segment costs. 1 to 255. Default: 10. */
  readonly maxSegments?: number
  /** Milliseconds before each further attempt. Default: that of `Channel.retrySchedule`. */
  readonly retrySchedule?: readonly number[]
  /** Limit for the whole attempt in milliseconds: 1 to 3,600,000. Default: 15,000. */
  readonly timeoutMs?: number
  /** Default: the system clock. */
  readonly clock?: Clock
}

const sid = like(/^[A-Za-z0-9]+$/, 'must be letters and digits')

const CHECKS: Checks<SmsOptions> = {
  accountSid: required(sid),
  authToken: word,
  apiKey: nested<NonNullable<SmsOptions['apiKey']>>({ sid: required(sid), secret: required(word) }),
  from: like(
    /^(?:\+[1-9]\d{6,14}|\d{3,8}|[A-Za-z0-9 ]{1,11})$/,
    'must be an E.164 number, a short code, or a name of at most 11 letters and digits',
  ),
  messagingServiceSid: sid,
  baseUrl: bareUrl,
  statusCallback: bareUrl,
  fetch: fn,
  maxSegments: whole(1, 255),
  retrySchedule: schedule,
  timeoutMs: timeout,
  clock,
}

const MAX_ANSWER_BYTES = 16 * 1024

/**
 * Sends text messages through Twilio or a provider with the same API. Template field: `text`.
 *
 * The address is the recipient's `phone` in E.164. Control characters and bidirectional overrides are removed from the text, and letters
 * are composed with their accents (NFC), which saves segments. A text that is then empty (`text_empty`) or takes more than `maxSegments`
 * (`too_long`) is not sent.
 *
 * The API has no idempotency key, so the provider cannot recognise a repeat: after `unknown` (a broken request, or a 5xx other than 503)
 * the next attempt **may send the text a second time**. If that is worse than not sending, pass `retrySchedule: []`.
 *
 * A number whose owner has texted STOP (Twilio's error 21610) is suppressed as `unsubscribed`, one that does not exist or cannot receive
 * texts (21211, 21614) as `bounced`.
 *
 * Codes: `address_invalid`, `content_invalid`, `text_empty`, `too_long`, `twilio_<code>` or `http_<status>` for a refusal,
 * `provider_auth` (401, 403; retried), `connection_failed`, `connection_lost`, `timeout`, `aborted`.
 * @throws SallyportError `option_invalid`, with all problems of the options.
 */
export function sms(options: SmsOptions): Channel {
  const own = readSmsOptions(options)
  const { accountSid, maxSegments = 10, timeoutMs = 15_000, retrySchedule, clock = systemClock } = own
  const base = (own.baseUrl ?? 'https://api.twilio.com').replace(/\/+$/, '')
  const url = `${base}/2010-04-01/Accounts/${accountSid}/Messages.json`
  const authorization = basicAuth(own.apiKey?.sid ?? accountSid, own.apiKey?.secret ?? own.authToken ?? '')

  async function send({ to, content }: OutboundMessage, { signal, deliveryId }: SendContext): Promise<SendOutcome> {
    if (!isPhoneNumber(to)) return refused('address_invalid')
    if (typeof content.text !== 'string') return refused('content_invalid')
    const text = composeText(plainText(content.text)).trim()
    if (text === '') return refused('text_empty')
    if (segmentCount(text) > maxSegments) return refused('too_long')
    if (signal.aborted) return { outcome: 'retry', code: 'aborted' }

    const stop = new AbortController()
    let stopped: 'timeout' | 'aborted' | undefined
    const end = (why: 'timeout' | 'aborted') => {
      stopped ??= why
      stop.abort()
    }
    const onAbort = () => end('aborted')
    const cancelTimer = clock.after(timeoutMs, () => end('timeout'))
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      const request = own.fetch ?? globalThis.fetch
      const response = await request(url, {
        method: 'POST',
        headers: { authorization, accept: 'application/json', 'user-agent': 'sallyport' },
        body: formOf(to, text, deliveryId, own),
        // A redirect would send the credentials to another server.
        redirect: 'manual',
        signal: stop.signal,
      })
      const body = await boundedJson(response.body, MAX_ANSWER_BYTES)
      const { headers } = response
      const wait = retryAfterMs({ retryAfter: headers.get('retry-after'), date: headers.get('date') }, clock.now())
      return smsAnswerOutcome({ status: response.status, body, retryAfterMs: wait })
    } catch (error) {
      if (stopped !== undefined) return { outcome: 'unknown', code: stopped }
      // `fetch` wraps the connection error.
      const faults = [error, Object(error).cause]
      if (faults.some(isConnectFault)) return { outcome: 'retry', code: 'connection_failed' }
      const lost: SendOutcome = { outcome: 'unknown', code: 'connection_lost' }
      return faults.some(isLostConnection) ? lost : { ...lost, cause: error }
    } finally {
      cancelTimer()
      signal.removeEventListener('abort', onAbort)
    }
  }

  return {
    address: ({ phone }) => phone || undefined,
    send,
    ...(retrySchedule && { retrySchedule }),
    checkFields: (fields, values) => [...fieldFaults(fields, ['text'], [['text']]), ...notText(['text'], values)],
  }
}

function formOf(
  to: string,
  text: string,
  deliveryId: string,
  { from, messagingServiceSid, statusCallback: callback }: SmsOptions,
): URLSearchParams {
  return new URLSearchParams({
    To: to,
    ...(from !== undefined && { From: from }),
    ...(messagingServiceSid !== undefined && { MessagingServiceSid: messagingServiceSid }),
    ...(callback !== undefined && {
      StatusCallback: `${callback}?${new URLSearchParams({ [DELIVERY_ID]: deliveryId })}`,
    }),
    Body: text,
  })
}

function basicAuth(user: string, password: string): string {
  return `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${user}:${password}`)))}`
}

/** No error quotes the option values: some are secret. */
function readSmsOptions(options: SmsOptions): SmsOptions {
  return readOptions('sms', options, CHECKS, (own) => [
    ...oneOfTwo(own, 'authToken', 'apiKey'),
    ...oneOfTwo(own, 'from', 'messagingServiceSid'),
  ])
}

function oneOfTwo(given: GivenOptions, field: keyof SmsOptions, other: keyof SmsOptions): ConfigProblem[] {
  return (given[field] === undefined) === (given[other] === undefined)
    ? [{ field, detail: `give either ${field} or ${other}` }]
    : []
}

interface SmsAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>> | undefined
  readonly retryAfterMs: number | undefined
}

/** 401 and 403 concern the account and can be fixed. After a 5xx other than 503 the message may have been sent (Twilio, error 20500). */
function smsAnswerOutcome({ status, body, retryAfterMs }: SmsAnswer): SendOutcome {
  if (status >= 200 && status < 300) {
    return { outcome: 'sent', ...(typeof body?.sid === 'string' && { providerMessageId: body.sid }) }
  }
  const wait = retryAfterMs !== undefined && { retryAfterMs }
  if (status === 401 || status === 403) return { outcome: 'retry', code: 'provider_auth', ...wait }
  const code = `http_${status}`
  if (status === 429 || status === 503 || status === 408 || status < 400) return { outcome: 'retry', code, ...wait }
  if (status >= 500) return { outcome: 'unknown', code, ...wait }
  if (!Number.isSafeInteger(body?.code)) return { outcome: 'rejected', code }
  const suppress = TWILIO_REFUSED.get(String(body?.code))
  return { outcome: 'rejected', code: `twilio_${body?.code}`, ...(suppress && { suppress }) }
}

/** Reads a JSON object of at most `limit` bytes; `undefined` if it is longer, no JSON object, or incomplete. */
async function boundedJson(
  body: ReadableStream<Uint8Array> | null,
  limit: number,
): Promise<Readonly<Record<string, unknown>> | undefined> {
  if (body === null) return undefined
  const decoder = new TextDecoder()
  let text = ''
  let bytes = 0
  try {
    for await (const chunk of body) {
      bytes += chunk.byteLength
      if (bytes > limit) return undefined
      text += decoder.decode(chunk, { stream: true })
    }
    const value: unknown = JSON.parse(text + decoder.decode())
    return typeof value === 'object' && value !== null ? { ...value } : undefined
  } catch {
    return undefined
  }
}
