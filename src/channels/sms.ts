/**
 * Texts, over the HTTP API of Twilio or one that speaks it.
 *
 * @module sallyport/channels/sms
 */
import { isPhoneNumber } from '../model/recipient.ts'
import type { Channel, OutboundMessage, SendContext, SendOutcome } from '../ports/channel.ts'
import { systemClock } from '../runtime/system-clock.ts'
import { boundedJson } from './bounded-json.ts'
import { isConnectFault, isLostConnection } from './connect-fault.ts'
import { plainText } from './control-characters.ts'
import { retryAfterMs } from './retry-after.ts'
import { readSmsOptions, type SmsOptions } from './sms-options.ts'
import { smsAnswerOutcome } from './sms-outcome.ts'
import { segmentCount } from './sms-segments.ts'
import { unknownFields } from './unknown-fields.ts'

export type { SmsOptions } from './sms-options.ts'

const MAX_ANSWER_BYTES = 16 * 1024

/**
 * Sends text messages through Twilio, or a provider with the same API. The template field is `text`.
 *
 * It goes to the recipient's `phone`, when that is E.164. Control characters and bidirectional overrides are taken out of
 * the text; one that is then empty (`text_empty`) or takes more than `maxSegments` (`too_long`) is not sent.
 *
 * This API has no idempotency key, so the provider cannot recognise a repeat: after `unknown`, that is a request that broke
 * off or was answered with a 5xx other than 503, the next attempt **may send the text a second time**. Where that is worse
 * than not sending, give `retrySchedule: []`.
 *
 * Codes: `address_invalid`, `content_invalid`, `text_empty`, `too_long`, `twilio_<code>` or `http_<status>` for a refusal,
 * `provider_auth` (401, 403; tried again), `connection_failed`, `connection_lost`, `timeout`, `aborted`.
 *
 * @throws SallyportError `option_invalid`, with all that is wrong with the options.
 */
export function sms(options: SmsOptions): Channel {
  const own = readSmsOptions(options)
  const { accountSid, maxSegments = 10, timeoutMs = 15_000, retrySchedule, clock = systemClock } = own
  const base = (own.baseUrl ?? 'https://api.twilio.com').replace(/\/+$/, '')
  const url = `${base}/2010-04-01/Accounts/${accountSid}/Messages.json`
  const authorization = basicAuth(own.apiKey?.sid ?? accountSid, own.apiKey?.secret ?? own.authToken ?? '')

  async function send({ to, content }: OutboundMessage, { signal }: SendContext): Promise<SendOutcome> {
    if (!isPhoneNumber(to)) return { outcome: 'rejected', code: 'address_invalid' }
    if (typeof content.text !== 'string') return { outcome: 'rejected', code: 'content_invalid' }
    const text = plainText(content.text).trim()
    if (text === '') return { outcome: 'rejected', code: 'text_empty' }
    if (segmentCount(text) > maxSegments) return { outcome: 'rejected', code: 'too_long' }
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
        body: formOf(to, text, own),
        // Credentials go to the one place that was configured.
        redirect: 'manual',
        signal: stop.signal,
      })
      const body = await boundedJson(response.body, MAX_ANSWER_BYTES)
      const { headers } = response
      const wait = retryAfterMs({ retryAfter: headers.get('retry-after'), date: headers.get('date') }, clock.now())
      return smsAnswerOutcome({ status: response.status, body, retryAfterMs: wait })
    } catch (error) {
      if (stopped !== undefined) return { outcome: 'unknown', code: stopped }
      // `fetch` wraps the error of the connection.
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
    checkFields(fields) {
      if (!fields.includes('text')) return ['needs text', unknownFields(fields, ['text'])].filter(Boolean).join('; ')
      return unknownFields(fields, ['text'])
    },
  }
}

function formOf(to: string, text: string, { from, messagingServiceSid }: SmsOptions): URLSearchParams {
  return new URLSearchParams({
    To: to,
    ...(from !== undefined && { From: from }),
    ...(messagingServiceSid !== undefined && { MessagingServiceSid: messagingServiceSid }),
    Body: text,
  })
}

function basicAuth(user: string, password: string): string {
  return `Basic ${btoa(String.fromCharCode(...new TextEncoder().encode(`${user}:${password}`)))}`
}
