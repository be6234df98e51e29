import { mailgun } from '../../../src/feedback/mailgun.ts'
import { resend } from '../../../src/feedback/resend.ts'
import { sendgrid } from '../../../src/feedback/sendgrid.ts'
import { ses } from '../../../src/feedback/ses.ts'
import { twilio } from '../../../src/feedback/twilio.ts'
import type { FeedbackSource } from '../../../src/ports/feedback-source.ts'
import { requestOf } from '../../feedback/requests.ts'
import { RESEND_SECRET, resendRequest, sendgridSigner, TWILIO_TOKEN, TWILIO_URL } from '../../feedback/signers.ts'
import { TOPIC } from '../../feedback/sns-peer.ts'
import { HEAVY_JSON } from './heavy-json.ts'
import type { LoopCases } from './loop-case.ts'

const MIB = 1_048_576
const signer = sendgridSigner()
const SENDGRID = ['x-twilio-email-event-webhook-signature', 'x-twilio-email-event-webhook-timestamp']
const SVIX = ['svix-id', 'svix-timestamp', 'svix-signature']

/** Sources, and headers of a request that was changed after it was signed: the proof is wrong, and only the whole of it shows that. */
const SOURCES: Readonly<Record<string, readonly [source: FeedbackSource, headers: Readonly<Record<string, string>>]>> =
  {
    twilio: [
      twilio({ channel: 'sms', authToken: TWILIO_TOKEN, url: TWILIO_URL }),
      { 'x-twilio-signature': `${'A'.repeat(27)}=` },
    ],
    mailgun: [mailgun({ channel: 'email', signingKey: 'key' }), {}],
    ses: [ses({ channel: 'email', topicArns: [TOPIC] }), {}],
    resend: [resend({ channel: 'email', secret: RESEND_SECRET }), headersOf(resendRequest('{}'), SVIX)],
    sendgrid: [sendgrid({ channel: 'email', publicKey: signer.publicKey }), headersOf(signer.sign('[]'), SENDGRID)],
  }

function headersOf(
  request: { header(name: string): string | undefined },
  names: readonly string[],
): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, request.header(name) ?? '']))
}

const HEAVY: Readonly<Record<string, (bytes: number) => string>> = {
  'a form of distinct names': (bytes) =>
    Array.from({ length: bytes / 2 }, (_, index) => `${index.toString(36)}=&`)
      .join('')
      .slice(0, bytes),
  'a form of one name': (bytes) => 'a=&'.repeat(bytes / 3),
  ...HEAVY_JSON,
}

/** Forged bodies of the largest size that each source reads. */
export const FEEDBACK_CASES: LoopCases = Object.fromEntries(
  Object.entries(SOURCES).flatMap(([name, [source, headers]]) =>
    Object.entries(HEAVY).map(([kind, heavy]) => [
      `feedback of ${name}: ${kind}`,
      (share: number) => {
        // A longer form of Twilio is not parsed.
        const bytes = name === 'twilio' && share < 1 ? 16_384 : (source.maxBytes ?? MIB) * share
        const request = requestOf({ body: heavy(bytes), headers })
        return () => source.receive(request)
      },
    ]),
  ),
)
