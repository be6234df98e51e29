import { createRequire } from 'node:module'
import { Webhook } from 'svix'
import twilio from 'twilio'
import type { FeedbackRequest } from '../../src/ports/feedback-source.ts'
import { NOW_SECONDS, requestOf } from './requests.ts'

const require = createRequire(import.meta.url)

interface EcdsaKey {
  publicKey(): { toPem(): string }
}

interface Ecdsa {
  readonly Ecdsa: { sign(message: Buffer, key: EcdsaKey): { toBase64(): string } }
  readonly PrivateKey: new (curve: unknown) => EcdsaKey
}

/** The library under SendGrid's own helper: no code of Node's crypto for elliptic curves. */
const stark: Ecdsa = require('starkbank-ecdsa')
const { prime256v1 }: { prime256v1: unknown } = require('starkbank-ecdsa/ellipticcurve/curve')

export interface SendgridSigner {
  /** As SendGrid shows it: base64 without the lines of PEM. */
  readonly publicKey: string
  readonly pem: string
  sign(body: string | Uint8Array, seconds?: number): FeedbackRequest
}

export function sendgridSigner(): SendgridSigner {
  const key = new stark.PrivateKey(prime256v1)
  const pem = key.publicKey().toPem()
  return {
    pem,
    publicKey: pem.replaceAll(/-----[A-Z ]+-----|\s/g, ''),
    sign(body, seconds = NOW_SECONDS) {
      const signature = stark.Ecdsa.sign(Buffer.concat([Buffer.from(`${seconds}`), Buffer.from(body)]), key).toBase64()
      const headers = {
        'x-twilio-email-event-webhook-signature': signature,
        'x-twilio-email-event-webhook-timestamp': `${seconds}`,
      }
      return requestOf({ body, headers })
    },
  }
}

export const RESEND_SECRET: string = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
export const OTHER_RESEND_SECRET: string = `whsec_${Buffer.alloc(24, 8).toString('base64')}`

interface ResendParts {
  readonly secret?: string
  readonly id?: string
  readonly seconds?: number
}

/** Signed by the library of Svix. */
export function resendRequest(
  body: string,
  { secret = RESEND_SECRET, id = 'msg_2W2D3qXLS5fOaPja1GDg7rF2CwB', seconds = NOW_SECONDS }: ResendParts = {},
): FeedbackRequest {
  const signature = new Webhook(secret).sign(id, new Date(seconds * 1_000), body)
  const headers = { 'svix-id': id, 'svix-timestamp': `${seconds}`, 'svix-signature': signature }
  return requestOf({ body, headers })
}

export const TWILIO_TOKEN = 'twilio-auth-token'
export const TWILIO_URL = 'https://api.example.com/feedback/twilio'
export const TWILIO_QUERY = '?sallyport_delivery_id=dlv_01'

interface TwilioParts {
  readonly token?: string
  readonly url?: string
  readonly query?: string
}

/** A status callback, signed by Twilio's library. */
export function twilioRequest(
  fields: Readonly<Record<string, string | string[]>>,
  { token = TWILIO_TOKEN, url = TWILIO_URL, query = TWILIO_QUERY }: TwilioParts = {},
): FeedbackRequest {
  const signature = twilio.getExpectedTwilioSignature(token, url + query, fields)
  const headers = {
    'x-twilio-signature': signature,
    'content-type': 'application/x-www-form-urlencoded',
  }
  const form = Object.entries(fields).flatMap(([name, value]) =>
    [value].flat().map((one): [string, string] => [name, one]),
  )
  return requestOf({ body: new URLSearchParams(form).toString(), headers, url: `/feedback/twilio${query}` })
}

/** A body of JSON, signed by Twilio's library. */
export function twilioJson(
  body: string,
  { token = TWILIO_TOKEN, url = TWILIO_URL }: TwilioParts = {},
): FeedbackRequest {
  const query = `?bodySHA256=${twilio.getExpectedBodyHash(body)}`
  const signature = twilio.getExpectedTwilioSignature(token, url + query, {})
  const headers = { 'x-twilio-signature': signature, 'content-type': 'application/json' }
  return requestOf({ body, headers, url: `/feedback/twilio${query}` })
}

export const MAILGUN_KEY = 'mailgun-signing-key'
export const MAILGUN_TOKEN = '651869375b9df3c98fc15c4889b102119add1235c38fc92824'

async function webCryptoHmac(key: string, text: string): Promise<string> {
  const bytes = new TextEncoder()
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const imported = await crypto.subtle.importKey('raw', bytes.encode(key), algorithm, false, ['sign'])
  return Buffer.from(await crypto.subtle.sign('HMAC', imported, bytes.encode(text))).toString('hex')
}

interface MailgunParts {
  readonly key?: string
  readonly token?: string
  readonly seconds?: number | string
}

/** Signed by WebCrypto, as Mailgun describes it. A text that is no JSON becomes a string. */
export async function mailgunRequest(
  event: string,
  { key = MAILGUN_KEY, token = MAILGUN_TOKEN, seconds = NOW_SECONDS }: MailgunParts = {},
): Promise<FeedbackRequest> {
  const signature = { timestamp: `${seconds}`, token, signature: await webCryptoHmac(key, `${seconds}${token}`) }
  return requestOf({ body: `{"signature":${JSON.stringify(signature)},"event-data":${jsonOrText(event)}}` })
}

function jsonOrText(event: string): string {
  try {
    JSON.parse(event)
    return event
  } catch {
    return JSON.stringify(event)
  }
}

export const POSTMARK_USER = 'postmark'
export const POSTMARK_PASSWORD = 'pass:word-ü'

interface PostmarkParts {
  readonly username?: string
  readonly password?: string
}

export function postmarkRequest(
  body: string,
  { username = POSTMARK_USER, password = POSTMARK_PASSWORD }: PostmarkParts = {},
): FeedbackRequest {
  const token = Buffer.from(`${username}:${password}`).toString('base64')
  return requestOf({ body, headers: { authorization: `Basic ${token}` } })
}
