import { mailgun } from 'sallyport/feedback/mailgun'
import { postmark } from 'sallyport/feedback/postmark'
import { resend } from 'sallyport/feedback/resend'
import { sendgrid } from 'sallyport/feedback/sendgrid'
import { ses } from 'sallyport/feedback/ses'
import { twilio } from 'sallyport/feedback/twilio'
import { describe, it } from 'vitest'
import {
  type FeedbackSourceCapabilities,
  type FeedbackTrial,
  feedbackSourceContract,
} from '../../src/contract-tests/index.ts'
import { requestOf } from './requests.ts'
import {
  MAILGUN_KEY,
  mailgunRequest,
  OTHER_RESEND_SECRET,
  POSTMARK_PASSWORD,
  postmarkRequest,
  RESEND_SECRET,
  resendRequest,
  sendgridSigner,
  TWILIO_TOKEN,
  TWILIO_URL,
  twilioJson,
  twilioRequest,
} from './signers.ts'
import { NOTIFICATION, OTHER_KEY, sesRequest, snsRequest, snsServer, TOPIC } from './sns-peer.ts'

const NO_PROOF = requestOf({ body: '{}' })

function sendgridTrial(): FeedbackTrial {
  const [signer, other] = [sendgridSigner(), sendgridSigner()]
  const body = JSON.stringify([{ event: 'delivered', email: 'a@example.com', timestamp: 1, sg_event_id: 'e1' }])
  return {
    source: sendgrid({ channel: 'email', publicKey: signer.publicKey }),
    request: () => signer.sign(body),
    forged: () => [other.sign(body), NO_PROOF],
    prove: (event) => signer.sign(event),
  }
}

function resendTrial(): FeedbackTrial {
  const body = JSON.stringify({ type: 'email.delivered', data: { email_id: 'e', to: ['a@example.com'] } })
  return {
    source: resend({ channel: 'email', secret: RESEND_SECRET }),
    request: () => resendRequest(body),
    forged: () => [resendRequest(body, { secret: OTHER_RESEND_SECRET }), NO_PROOF],
    prove: (event) => resendRequest(event),
    secrets: [RESEND_SECRET],
  }
}

function twilioTrial(): FeedbackTrial {
  const fields = { MessageSid: 'SM1', MessageStatus: 'delivered', To: '+15005550006' }
  return {
    source: twilio({ channel: 'sms', authToken: TWILIO_TOKEN, url: TWILIO_URL }),
    request: () => twilioRequest(fields),
    forged: () => [twilioRequest(fields, { token: 'other' }), NO_PROOF],
    prove: (event) => twilioJson(event),
    secrets: [TWILIO_TOKEN],
  }
}

function sesTrial(): FeedbackTrial {
  const event = JSON.stringify({ eventType: 'Delivery', mail: {}, delivery: { recipients: ['a@example.com'] } })
  return {
    source: ses({ channel: 'email', topicArns: [TOPIC], fetch: snsServer().fetch }),
    request: () => sesRequest(event),
    forged: () => [snsRequest({ ...NOTIFICATION, Message: event }, OTHER_KEY), NO_PROOF, requestOf({ body: event })],
    prove: (text) => sesRequest(text),
  }
}

function postmarkTrial(): FeedbackTrial {
  const body = JSON.stringify({ RecordType: 'Delivery', MessageID: 'm1', Recipient: 'a@example.com' })
  return {
    source: postmark({ channel: 'email', username: 'postmark', password: POSTMARK_PASSWORD }),
    request: () => postmarkRequest(body),
    forged: () => [postmarkRequest(body, { password: 'other' }), postmarkRequest(body, { username: 'x' }), NO_PROOF],
    prove: (event) => postmarkRequest(event),
    secrets: [POSTMARK_PASSWORD],
  }
}

async function mailgunTrial(): Promise<FeedbackTrial> {
  const event = JSON.stringify({ event: 'delivered', id: 'e1', recipient: 'a@example.com' })
  return {
    source: mailgun({ channel: 'email', signingKey: MAILGUN_KEY }),
    request: () => mailgunRequest(event),
    forged: async () => [await mailgunRequest(event, { key: 'other' }), NO_PROOF],
    prove: (text) => mailgunRequest(text),
    secrets: [MAILGUN_KEY],
  }
}

const TRIALS: readonly (readonly [string, () => FeedbackTrial | Promise<FeedbackTrial>, FeedbackSourceCapabilities])[] =
  [
    ['sendgrid', sendgridTrial, {}],
    ['resend', resendTrial, {}],
    ['twilio', twilioTrial, { expires: false }],
    ['ses', sesTrial, {}],
    ['postmark', postmarkTrial, { coversBody: false, expires: false }],
    ['mailgun', mailgunTrial, { coversBody: false }],
  ]

describe.each(TRIALS)('%s keeps the contract of feedback sources', (_, create, capabilities) => {
  feedbackSourceContract({ test: it, skip: it.skip, create, capabilities })
})
