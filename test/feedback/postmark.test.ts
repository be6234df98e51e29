import { email } from 'sallyport/channels/email'
import { postmark } from 'sallyport/feedback/postmark'
import { describe, expect, it } from 'vitest'
import type { FeedbackTrial } from '../../src/contract-tests/index.ts'
import { inbox, LETTER, transportTo } from '../channels/letters.ts'
import { context, message } from '../channels/messages.ts'
import { WORD } from '../options/option-rows.ts'
import { testOptions } from '../options/option-tests.ts'
import { eventsOf, REFUSED, requestOf } from './requests.ts'
import { POSTMARK_PASSWORD, POSTMARK_USER, postmarkRequest } from './signers.ts'
import { NO_PROOF, SOURCE_OPTIONS, testSource } from './source-tests.ts'

const source = postmark({ channel: 'email', username: POSTMARK_USER, password: POSTMARK_PASSWORD })

const BASE = { MessageID: '883953f4-6105-42a2-a16a-77a8eac79483', Metadata: {}, MessageStream: 'outbound' }
const BOUNCE = {
  ...BASE,
  RecordType: 'Bounce',
  ID: 692_560_173,
  Email: 'john@example.com',
  BouncedAt: '2019-11-05T16:33:54.9070259Z',
}
const AT = Date.UTC(2019, 10, 5, 16, 33, 54, 907)
const EVENT = {
  eventId: expect.stringMatching(/^[\w-]{43}$/),
  at: AT,
  providerMessageId: BASE.MessageID,
  address: 'john@example.com',
}

async function read(body: object): Promise<object | undefined> {
  const [event] = await eventsOf(source, postmarkRequest(JSON.stringify(body)))
  return event
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

testSource('postmark', {
  create: postmarkTrial,
  capabilities: { coversBody: false, expires: false },
  maxBytes: 1_048_576,
  head: { authorization: [undefined, '', 'Basic', 'Basic AAAA', 'Bearer AAAA'] },
})

testOptions(
  'sallyport/feedback/postmark postmark',
  'PostmarkOptions',
  postmark,
  { channel: 'email', username: 'u', password: 'p' },
  { ...SOURCE_OPTIONS, username: [...WORD, 'a:b'], password: WORD },
)

describe('the proof of Postmark', () => {
  const withHeader = (authorization: string) => source.receive(requestOf({ body: '{}', headers: { authorization } }))
  const token = Buffer.from(`${POSTMARK_USER}:${POSTMARK_PASSWORD}`).toString('base64')

  it('The user name and password are accepted, in any case of the scheme', async () => {
    for (const scheme of ['Basic', 'basic', 'BASIC ']) {
      expect(await withHeader(`${scheme} ${token}`)).toMatchObject({ outcome: 'events' })
    }
  })

  it('Another user, password and scheme is refused', async () => {
    for (const [username, password] of [
      ['other', POSTMARK_PASSWORD],
      [POSTMARK_USER, 'other'],
      [POSTMARK_USER, ''],
      [POSTMARK_USER, `${POSTMARK_PASSWORD}x`],
      ['', `${POSTMARK_USER}:${POSTMARK_PASSWORD}`],
    ] as const) {
      expect(await source.receive(postmarkRequest('{}', { username, password }))).toEqual(REFUSED)
    }
    for (const header of ['', token, `Bearer ${token}`, `Basic ${token} x`, 'Basic', 'Basic !', `Digest ${token}`]) {
      expect(await withHeader(header)).toEqual(REFUSED)
    }
    expect(await source.receive(requestOf({ body: '{}' }))).toEqual(REFUSED)
  })
})

describe('the events of Postmark', () => {
  it.each([
    ['HardBounce', { kind: 'bounced', isPermanent: true, code: 'hard_bounce' }],
    ['BadEmailAddress', { kind: 'bounced', isPermanent: true, code: 'bad_email_address' }],
    ['SoftBounce', { kind: 'bounced', code: 'soft_bounce' }],
    ['DnsError', { kind: 'bounced', code: 'dns_error' }],
    ['SpamNotification', { kind: 'bounced', code: 'spam_notification' }],
    ['VirusNotification', { kind: 'bounced', code: 'virus_notification' }],
    ['Blocked', { kind: 'bounced', code: 'blocked' }],
    ['SMTPApiError', { kind: 'bounced', code: 'smtp_api_error' }],
    ['DMARCPolicy', { kind: 'bounced', code: 'dmarc_policy' }],
    ['ManuallyDeactivated', { kind: 'bounced', code: 'manually_deactivated' }],
    ['Unknown', { kind: 'bounced', code: 'unknown' }],
    ['Transient', { kind: 'delayed', code: 'transient' }],
    ['Unsubscribe', { kind: 'unsubscribed' }],
    ['SpamComplaint', { kind: 'complained' }],
    ['Subscribe', { kind: 'unknown', code: 'subscribe' }],
    ['AutoResponder', { kind: 'unknown', code: 'auto_responder' }],
    ['AddressChange', { kind: 'unknown', code: 'address_change' }],
    ['ChallengeVerification', { kind: 'unknown', code: 'challenge_verification' }],
    ['__proto__', { kind: 'bounced' }],
  ])('A bounce of the type %s becomes %j', async (Type, expected) => {
    expect(await read({ ...BOUNCE, Type })).toEqual({ ...EVENT, ...expected })
  })

  it('The status in the details is the code of a bounce', async () => {
    const Details = 'smtp;550 5.1.1 <john@example.com>: user unknown at 10.5.1.1'
    expect(await read({ ...BOUNCE, Type: 'HardBounce', Details })).toMatchObject({ code: '5.1.1' })
  })

  const change = {
    ...BASE,
    RecordType: 'SubscriptionChange',
    Recipient: 'john@example.com',
    ChangedAt: BOUNCE.BouncedAt,
  }
  const opened = { ...BASE, Recipient: 'john@example.com', ReceivedAt: BOUNCE.BouncedAt }
  it.each([
    [
      { ...BASE, RecordType: 'Delivery', Recipient: 'john@example.com', DeliveredAt: BOUNCE.BouncedAt },
      'delivered',
      {},
    ],
    [{ ...opened, RecordType: 'Open', FirstOpen: true }, 'opened', {}],
    [{ ...opened, RecordType: 'Click', OriginalLink: 'https://example.com' }, 'clicked', {}],
    [{ ...BOUNCE, RecordType: 'SpamComplaint', Type: 'SpamComplaint' }, 'complained', {}],
    [{ ...change, SuppressSending: true, SuppressionReason: 'ManualSuppression' }, 'unsubscribed', {}],
    [
      { ...change, SuppressSending: true, SuppressionReason: 'HardBounce' },
      'bounced',
      { isPermanent: true, code: 'hard_bounce' },
    ],
    [{ ...change, SuppressSending: true, SuppressionReason: 'SpamComplaint' }, 'complained', {}],
    [{ ...change, SuppressSending: false }, 'unknown', { code: 'subscription_change' }],
    [{ ...BOUNCE, RecordType: 'Inbound' }, 'unknown', { code: 'inbound' }],
  ])('%j becomes %s', async (body, kind, more) => {
    expect(await read(body)).toEqual({ ...EVENT, kind, ...more })
  })

  it('The delivery id that a mail by SMTP carries is found again, in the case that arrives', async () => {
    const { port, letters } = await inbox()
    const channel = email(transportTo(port), {
      from: 'shop@example.com',
      headers: ({ deliveryId }) => ({ 'X-PM-Metadata-sallyport_delivery': deliveryId }),
    })
    expect(await channel.send(message('ada@example.test', LETTER), context())).toMatchObject({ outcome: 'sent' })
    const [, name = '', value] = /^X-PM-Metadata-([^:]+): (\S+)\r$/im.exec(letters[0]?.toString() ?? '') ?? []
    expect(value).toBe('dlv_1')
    expect(await read({ ...BOUNCE, Metadata: { [name]: value } })).toMatchObject({ deliveryId: 'dlv_1' })
  })

  it('The delivery id is the metadata sallyport_delivery, or sallyport_delivery_id', async () => {
    for (const name of ['sallyport_delivery', 'sallyport_delivery_id']) {
      expect(await read({ ...BOUNCE, Metadata: { [name]: 'dlv_01' } })).toMatchObject({ deliveryId: 'dlv_01' })
    }
  })

  it('A repetition has the id of the first, and each event has its own', async () => {
    expect(await read({ ...BOUNCE, Type: 'HardBounce' })).toEqual(await read({ ...BOUNCE, Type: 'HardBounce' }))
    const opens = Array.from({ length: 1_000 }, (_, ms) => ({
      ...opened,
      RecordType: 'Open',
      ReceivedAt: new Date(AT + ms).toISOString(),
    }))
    const ids = (await Promise.all(opens.map(read))).map((event) => Reflect.get(Object(event), 'eventId'))
    expect(new Set(ids).size).toBe(1_000)
  })
})
