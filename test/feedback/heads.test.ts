import { mailgun } from 'sallyport/feedback/mailgun'
import { postmark } from 'sallyport/feedback/postmark'
import { resend } from 'sallyport/feedback/resend'
import { sendgrid } from 'sallyport/feedback/sendgrid'
import { ses } from 'sallyport/feedback/ses'
import { twilio } from 'sallyport/feedback/twilio'
import { describe, expect, it, vi } from 'vitest'
import type { FeedbackRequest, FeedbackSource } from '../../src/ports/feedback-source.ts'
import { NOW_SECONDS, REFUSED, requestOf } from './requests.ts'
import {
  POSTMARK_PASSWORD,
  POSTMARK_USER,
  postmarkRequest,
  RESEND_SECRET,
  resendRequest,
  sendgridSigner,
  TWILIO_TOKEN,
  TWILIO_URL,
  twilioJson,
  twilioRequest,
} from './signers.ts'
import { TOPIC } from './sns-peer.ts'

const signer = sendgridSigner()

interface Case {
  readonly source: FeedbackSource
  /** A request whose proof is right. */
  readonly genuine: FeedbackRequest
  /** The headers of the proof, and values that no proof can have. */
  readonly forged: Readonly<Record<string, readonly (string | undefined)[]>>
}

const NO_TIME = [undefined, '', 'now', `${NOW_SECONDS - 604_801}`, `${NOW_SECONDS + 301}`, `${NOW_SECONDS}.0`]
const NO_BASE64 = [undefined, '', 'AAAA', '!'.repeat(92), `${'A'.repeat(4_096)}=`]

const CASES: Readonly<Record<string, Case>> = {
  twilio: {
    source: twilio({ channel: 'sms', authToken: TWILIO_TOKEN, url: TWILIO_URL }),
    genuine: twilioRequest({ MessageStatus: 'delivered', MessageSid: 'SM1' }),
    forged: { 'x-twilio-signature': [...NO_BASE64, 'A'.repeat(28), `${'A'.repeat(27)}=x`] },
  },
  sendgrid: {
    source: sendgrid({ channel: 'email', publicKey: signer.publicKey }),
    genuine: signer.sign('[]'),
    forged: {
      'x-twilio-email-event-webhook-signature': NO_BASE64,
      'x-twilio-email-event-webhook-timestamp': NO_TIME,
    },
  },
  resend: {
    source: resend({ channel: 'email', secret: RESEND_SECRET }),
    genuine: resendRequest('{}'),
    forged: {
      'svix-id': [undefined, ''],
      'svix-timestamp': NO_TIME,
      'svix-signature': [undefined, '', 'v1', 'v1,', 'v1,AAAA', `v2,${'A'.repeat(43)}=`],
    },
  },
  postmark: {
    source: postmark({ channel: 'email', username: POSTMARK_USER, password: POSTMARK_PASSWORD }),
    genuine: postmarkRequest('{}'),
    forged: { authorization: [undefined, '', 'Basic', 'Basic AAAA', 'Bearer AAAA'] },
  },
}

const HEADERS = Object.values(CASES).flatMap(({ forged }) => Object.keys(forged))

function withHeader(request: FeedbackRequest, name: string, value: string | undefined): FeedbackRequest {
  const { body, url } = request
  const kept = HEADERS.flatMap((header): [string, string][] => {
    const given = header === name ? value : request.header(header)
    return given === undefined ? [] : [[header, given]]
  })
  return requestOf({ body, url, headers: Object.fromEntries(kept) })
}

describe.each(Object.entries(CASES))('the head of a request of %s', (_, { source, genuine, forged }) => {
  it('is let through with a right proof', async () => {
    expect(source.head?.(genuine)).toBe(true)
    expect(await source.receive(genuine)).toMatchObject({ outcome: 'events' })
  })

  it.each(Object.entries(forged).flatMap(([name, values]) => values.map((value) => [name, value] as const)))(
    'is refused with %s: %j',
    async (name, value) => {
      const request = withHeader(genuine, name, value)
      expect(source.head?.(request)).toBe(false)
      expect(await source.receive(request)).toEqual(REFUSED)
    },
  )
})

describe('a form of Twilio', () => {
  const { source } = CASES.twilio as Case
  const KIB_16 = 16_384
  const form = (bytes: number) => {
    const fields = { MessageStatus: 'delivered', MessageSid: 'SM1', Body: '' }
    const { body } = twilioRequest(fields)
    return twilioRequest({ ...fields, Body: 'x'.repeat(bytes - body.byteLength) })
  }

  it('is read up to 16 KiB', async () => {
    expect([form(KIB_16).body.byteLength, form(KIB_16 + 1).body.byteLength]).toEqual([KIB_16, KIB_16 + 1])
    expect(await source.receive(form(KIB_16))).toMatchObject({ outcome: 'events' })
    expect(await source.receive(form(KIB_16 + 1))).toEqual(REFUSED)
  })

  it('is not parsed beyond that', async () => {
    const decoded = vi.spyOn(TextDecoder.prototype, 'decode')
    const body = Array.from({ length: 50_000 }, (_, index) => `${index.toString(36)}=`).join('&')
    const headers = { 'x-twilio-signature': `${'A'.repeat(27)}=` }
    expect(await source.receive(requestOf({ body, headers }))).toEqual(REFUSED)
    expect(decoded).not.toHaveBeenCalled()
    decoded.mockRestore()
  })

  it('does not limit event streams, which are JSON', async () => {
    const event = { type: 'com.twilio.messaging.message.delivered', id: 'EZ1', data: { messageSid: 'SM1' } }
    const body = JSON.stringify([event, { padding: 'x'.repeat(200_000) }])
    expect(await source.receive(twilioJson(body))).toMatchObject({ outcome: 'events', events: [{}, {}] })
  })
})

it('Each source limits its bodies', () => {
  const limits = {
    ...Object.fromEntries(Object.entries(CASES).map(([name, { source }]) => [name, source.maxBytes])),
    mailgun: mailgun({ channel: 'email', signingKey: 'k' }).maxBytes,
    ses: ses({ channel: 'email', topicArns: [TOPIC] }).maxBytes,
  }
  // SendGrid and Postmark batch or quote, and their heads are checked.
  expect(limits).toEqual({
    ...{ twilio: 262_144, mailgun: 262_144, ses: 262_144, resend: 262_144 },
    ...{ sendgrid: undefined, postmark: undefined },
  })
})
