import { mailgun } from 'sallyport/feedback/mailgun'
import { postmark } from 'sallyport/feedback/postmark'
import { resend } from 'sallyport/feedback/resend'
import { sendgrid } from 'sallyport/feedback/sendgrid'
import { ses } from 'sallyport/feedback/ses'
import { twilio } from 'sallyport/feedback/twilio'
import { describe, expect, it } from 'vitest'
import type { FeedbackRequest, FeedbackSource } from '../../src/ports/feedback-source.ts'
import { consentApp, feedbackRequest, overHttp } from '../sallyport/consent/consenting.ts'
import {
  MAILGUN_KEY,
  mailgunRequest,
  POSTMARK_PASSWORD,
  POSTMARK_USER,
  postmarkRequest,
  RESEND_SECRET,
  resendRequest,
  sendgridSigner,
  TWILIO_TOKEN,
  TWILIO_URL,
  twilioJson,
} from './signers.ts'
import { CERTIFICATE, sesRequest, snsServer, TOPIC } from './sns-peer.ts'

const KIB = 1_024
const signer = sendgridSigner()
const padded = (bytes: number): string => `{"padding":"${'x'.repeat(bytes)}"}`

interface Case {
  readonly source: FeedbackSource
  readonly bytes: number
  readonly headers: readonly string[]
  /** A request with a right proof and a body of at least so many bytes of padding. */
  request(padding: number): FeedbackRequest | Promise<FeedbackRequest>
}

const CASES: Readonly<Record<string, Case>> = {
  twilio: {
    source: twilio({ channel: 'email', authToken: TWILIO_TOKEN, url: TWILIO_URL }),
    ...{ bytes: 256 * KIB, headers: ['x-twilio-signature'], request: (padding) => twilioJson(padded(padding)) },
  },
  mailgun: {
    source: mailgun({ channel: 'email', signingKey: MAILGUN_KEY, toleranceSeconds: 604_800 }),
    ...{ bytes: 256 * KIB, headers: [], request: (padding) => mailgunRequest(padded(padding)) },
  },
  ses: {
    source: ses({
      ...{ channel: 'email', topicArns: [TOPIC], fetch: snsServer(() => new Response(CERTIFICATE)).fetch },
    }),
    ...{ bytes: 256 * KIB, headers: [], request: (padding) => sesRequest(padded(padding)) },
  },
  resend: {
    source: resend({ channel: 'email', secret: RESEND_SECRET }),
    bytes: 256 * KIB,
    headers: ['svix-id', 'svix-timestamp', 'svix-signature'],
    request: (padding) => resendRequest(padded(padding)),
  },
  sendgrid: {
    source: sendgrid({ channel: 'email', publicKey: signer.publicKey }),
    bytes: 1_024 * KIB,
    headers: ['x-twilio-email-event-webhook-signature', 'x-twilio-email-event-webhook-timestamp'],
    request: (padding) => signer.sign(padded(padding)),
  },
  postmark: {
    source: postmark({ channel: 'email', username: POSTMARK_USER, password: POSTMARK_PASSWORD }),
    bytes: 1_024 * KIB,
    headers: ['authorization'],
    request: (padding) => postmarkRequest(padded(padding)),
  },
}

/** A genuine request whose body has exactly so many bytes. */
async function sized({ request }: Case, bytes: number): Promise<FeedbackRequest> {
  const { byteLength } = (await request(0)).body
  return request(bytes - byteLength)
}

describe.each(Object.entries(CASES))('a body of %s', (_, one) => {
  const { source, bytes, headers } = one
  const app = consentApp({ sources: { own: source } })
  const post = (request: FeedbackRequest): Promise<Response> => {
    const query = request.url.includes('?') ? request.url.slice(request.url.indexOf('?')) : ''
    return app.fetch(overHttp(`own${query}`, request, headers))
  }

  it('is accepted at its limit, and refused one byte over', async () => {
    const [exact, over] = [await sized(one, bytes), await sized(one, bytes + 1)]
    expect([exact.body.byteLength, over.body.byteLength]).toEqual([bytes, bytes + 1])
    expect((await post(exact)).status).toBe(200)
    const answer = await post(over)
    expect([answer.status, Object(await answer.json()).code]).toEqual([413, 'body_too_large'])
  })

  it.each(['[[[[', '{"a":{"a":', '{"a":1,"a":2}', 'null', '"text"', '7', '\u0000', '{"__proto__":{}}'])(
    'is never an error of the server without a right proof: %s',
    async (body) => {
      const answer = await app.fetch(feedbackRequest('own', body))
      expect(answer.status).toBe(401)
    },
  )
})
