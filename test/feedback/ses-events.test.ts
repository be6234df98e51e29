import { ses } from 'sallyport/feedback/ses'
import { describe, expect, it } from 'vitest'
import type { FeedbackEvent } from '../../src/ports/feedback-source.ts'
import { eventsOf } from './requests.ts'
import { NOTIFICATION, sesRequest, snsServer, TOPIC } from './sns-peer.ts'

const source = ses({ channel: 'email', topicArns: [TOPIC], fetch: snsServer().fetch })

const MAIL = {
  timestamp: '2016-01-27T14:59:38.237Z',
  messageId: '00000138111222aa-33322211-cccc-cccc-cccc-ddddaaaa0680-000000',
  source: 'john@example.com',
  destination: ['jane@example.com'],
}
const timestamp = '2016-01-27T14:59:40.000Z'
const EVENT = {
  eventId: NOTIFICATION.MessageId,
  at: Date.parse(timestamp),
  providerMessageId: MAIL.messageId,
  address: 'jane@example.com',
}

const read = (event: object, mail: object = MAIL): Promise<readonly FeedbackEvent[]> =>
  eventsOf(source, sesRequest(JSON.stringify({ mail, ...event })))

const bounce = (bounceType: string, bounceSubType: string, recipient: object = {}) => ({
  bounce: {
    ...{ bounceType, bounceSubType, timestamp },
    bouncedRecipients: [{ emailAddress: 'jane@example.com', ...recipient }],
  },
})
const complaint = (type?: string) => ({
  complaint: {
    ...{ timestamp, complaintFeedbackType: type },
    complainedRecipients: [{ emailAddress: 'jane@example.com' }],
  },
})

const CASES = [
  ['Delivery', { delivery: { timestamp, recipients: ['jane@example.com'] } }, { kind: 'delivered' }],
  [
    'Bounce',
    bounce('Permanent', 'General', { status: '5.1.1', diagnosticCode: 'smtp; 550 5.1.1 <jane@example.com>' }),
    { kind: 'bounced', isPermanent: true, code: '5.1.1' },
  ],
  [
    'Bounce',
    bounce('Permanent', 'OnAccountSuppressionList'),
    { kind: 'bounced', isPermanent: true, code: 'on_account_suppression_list' },
  ],
  ['Bounce', bounce('Permanent', 'UnsubscribedRecipient'), { kind: 'bounced', code: 'unsubscribed_recipient' }],
  ['Bounce', bounce('Transient', 'MailboxFull'), { kind: 'bounced', code: 'mailbox_full' }],
  ['Bounce', bounce('Undetermined', 'Undetermined'), { kind: 'bounced', code: 'undetermined' }],
  ['Complaint', complaint('abuse'), { kind: 'complained', code: 'abuse' }],
  ['Complaint', complaint(), { kind: 'complained' }],
  ['Complaint', complaint('not-spam'), { kind: 'unknown', code: 'not_spam' }],
] as const

const PUBLISHED_ONLY = [
  [
    'DeliveryDelay',
    {
      deliveryDelay: {
        ...{ timestamp, delayType: 'TransientCommunicationFailure' },
        delayedRecipients: [{ emailAddress: 'jane@example.com', status: '4.4.1' }],
      },
    },
    { kind: 'delayed', code: '4.4.1' },
  ],
  [
    'DeliveryDelay',
    { deliveryDelay: { timestamp, delayType: 'SpamDetected' } },
    { kind: 'delayed', code: 'spam_detected' },
  ],
  ['Open', { open: { timestamp, ipAddress: '192.0.2.1' } }, { kind: 'opened' }],
  ['Click', { click: { timestamp, link: 'https://example.com' } }, { kind: 'clicked' }],
  ['Reject', { reject: { timestamp, reason: 'Bad content' } }, { kind: 'bounced', code: 'reject' }],
  [
    'Rendering Failure',
    { failure: { timestamp, errorMessage: 'Attribute is not present' } },
    { kind: 'bounced', code: 'rendering_failure' },
  ],
  [
    'Subscription',
    { subscription: { timestamp, newTopicPreferences: { unsubscribeAll: true } } },
    { kind: 'unsubscribed' },
  ],
  ['Subscription', { subscription: { timestamp } }, { kind: 'unknown', code: 'subscription' }],
  ['Send', { send: { timestamp } }, { kind: 'unknown', code: 'send' }],
] as const

describe('the events of SES', () => {
  it.each(CASES)('The notification %s with %j becomes %j', async (notificationType, details, expected) => {
    expect(await read({ notificationType, ...details })).toEqual([{ ...EVENT, ...expected }])
  })

  it.each([...CASES, ...PUBLISHED_ONLY])(
    'The published event %s with %j becomes %j',
    async (eventType, details, expected) => {
      expect(await read({ eventType, ...details })).toEqual([{ ...EVENT, ...expected }])
    },
  )

  it('A name of a prototype is an unknown event', async () => {
    for (const eventType of ['__proto__', 'constructor', 'toString']) {
      expect(await read({ eventType })).toMatchObject([{ kind: 'unknown' }])
    }
  })

  it('Each recipient of a bounce has its own event, also 1,000', async () => {
    const recipients = Array.from({ length: 1_000 }, (_, index) => ({ emailAddress: `a${index}@example.com` }))
    const event = { eventType: 'Bounce', bounce: { bounceType: 'Permanent', bouncedRecipients: recipients } }
    const events = await read(event)
    expect(events.map(({ address }) => address)).toEqual(recipients.map(({ emailAddress }) => emailAddress))
    expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(1_000)
    expect(await read(event)).toEqual(events)
  })

  it('An open of a message to several has no address', async () => {
    const mail = { ...MAIL, destination: ['a@example.com', 'b@example.com'] }
    expect((await read({ eventType: 'Open', open: {} }, mail))[0]).not.toHaveProperty('address')
  })

  it('The delivery id is the message tag, else the header', async () => {
    const headers = [{ name: 'X-Sallyport-Delivery-Id', value: 'dlv_02' }]
    const tags = { 'ses:configuration-set': ['c'], sallyport_delivery_id: ['dlv_01'] }
    const idWith = async (more: object) => (await read({ eventType: 'Open' }, { ...MAIL, ...more }))[0]?.deliveryId
    expect(await idWith({ tags, headers })).toBe('dlv_01')
    expect(await idWith({ headers })).toBe('dlv_02')
    expect(await idWith({ tags: { sallyport_delivery_id: 'dlv_03' } })).toBe('dlv_03')
    for (const odd of [{ tags: [], headers: {} }, { headers: [null, 7, {}] }]) expect(await idWith(odd)).toBeUndefined()
  })

  it('The message id is the original Message-ID, else that of SES', async () => {
    const idWith = async (more: object) =>
      (await read({ eventType: 'Open' }, { ...MAIL, ...more }))[0]?.providerMessageId
    expect(await idWith({ commonHeaders: { messageId: '<dlv_01@shop.example>' } })).toBe('<dlv_01@shop.example>')
    expect(await idWith({ headers: [{ name: 'Message-ID', value: 'dlv_01@shop.example' }] })).toBe(
      '<dlv_01@shop.example>',
    )
    expect(await idWith({ commonHeaders: { messageId: 'custom' } })).toBe(MAIL.messageId)
    expect(await idWith({})).toBe(MAIL.messageId)
  })

  it('A text that SES posts to try the topic is an unknown event', async () => {
    const text = 'Successfully validated SNS topic for Amazon SES event publishing.'
    expect(await eventsOf(source, sesRequest(text))).toMatchObject([{ kind: 'unknown', code: 'unknown_shape' }])
  })
})
