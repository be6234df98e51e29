import type { SendOutcome } from '../ports/channel.ts'

/** An answer of the provider, as far as it matters. */
export interface SmsAnswer {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>> | undefined
  readonly retryAfterMs: number | undefined
}

/**
 * What the provider's answer says about the message.
 *
 * 401 and 403 speak of our account, not of the recipient: `retry`, for somebody to mend. 429 and 503 refuse for now. Any
 * other 5xx may stand over a message that went out, as Twilio's page on error 20500 says of POST: `unknown`.
 */
export function smsAnswerOutcome({ status, body, retryAfterMs }: SmsAnswer): SendOutcome {
  if (status >= 200 && status < 300) {
    return { outcome: 'sent', ...(typeof body?.sid === 'string' && { providerMessageId: body.sid }) }
  }
  const wait = retryAfterMs !== undefined && { retryAfterMs }
  if (status === 401 || status === 403) return { outcome: 'retry', code: 'provider_auth', ...wait }
  const code = `http_${status}`
  if (status === 429 || status === 503 || status === 408 || status < 400) return { outcome: 'retry', code, ...wait }
  if (status >= 500) return { outcome: 'unknown', code, ...wait }
  return { outcome: 'rejected', code: Number.isSafeInteger(body?.code) ? `twilio_${body?.code}` : code }
}
