import { resend } from 'sallyport/feedback/resend'
import { describe, expect, it } from 'vitest'
import type { FeedbackTrial } from '../../src/contract-tests/index.ts'
import { testOptions } from '../options/option-tests.ts'
import { eventsOf, NOW_SECONDS, REFUSED, requestOf } from './requests.ts'
import { OTHER_RESEND_SECRET, RESEND_SECRET, resendRequest } from './signers.ts'
import { AGE, NO_PROOF, NO_TIME, SECRETS, SOURCE_OPTIONS, testSource } from './source-tests.ts'

const source = resend({ channel: 'email', secret: RESEND_SECRET })

const DATA = {
  created_at: '2023-02-22T23:41:11.894719+00:00',
  email_id: '56761188-7520-42d8-8898-ff6fc54ce618',
  from: 'Acme <onboarding@resend.dev>',
  to: ['delivered@resend.dev'],
  subject: 'Sending this example',
}
const EVENT = {
  eventId: 'msg_2W2D3qXLS5fOaPja1GDg7rF2CwB',
  at: Date.UTC(2023, 1, 22, 23, 41, 12, 126),
  providerMessageId: DATA.email_id,
  address: 'delivered@resend.dev',
}

async function read(type: unknown, more: object = {}): Promise<object | undefined> {
  const body = { type, created_at: '2023-02-22T23:41:12.126Z', data: { ...DATA, ...more } }
  const [event] = await eventsOf(source, resendRequest(JSON.stringify(body)))
  return event
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

testSource('resend', {
  create: resendTrial,
  maxBytes: 262_144,
  head: {
    'svix-id': [undefined, ''],
    'svix-timestamp': NO_TIME,
    'svix-signature': [undefined, '', 'v1', 'v1,', 'v1,AAAA', `v2,${'A'.repeat(43)}=`],
  },
})

testOptions(
  'sallyport/feedback/resend resend',
  'ResendOptions',
  resend,
  { channel: 'email', secret: RESEND_SECRET },
  {
    ...SOURCE_OPTIONS,
    ...AGE,
    secret: [...SECRETS, 'x', 'whsec_', 'whsec_AAAA', `${RESEND_SECRET} `, [RESEND_SECRET, 'x']],
  },
)

describe('the proof of Resend', () => {
  const body = '{"type":"email.sent"}'
  const right = resendRequest(body)
  const signature = right.header('svix-signature') ?? ''
  const withHeaders = (change: Readonly<Record<string, string>>) => {
    const names = ['svix-id', 'svix-timestamp', 'svix-signature']
    const headers = Object.fromEntries(names.map((name) => [name, right.header(name) ?? '']))
    return source.receive(requestOf({ body, headers: { ...headers, ...change } }))
  }

  it('Each secret of a list is accepted', async () => {
    const both = resend({ channel: 'email', secret: [OTHER_RESEND_SECRET, RESEND_SECRET] })
    for (const secret of [RESEND_SECRET, OTHER_RESEND_SECRET]) {
      expect(await both.receive(resendRequest(body, { secret }))).toMatchObject({ outcome: 'events' })
    }
    expect(await source.receive(resendRequest(body, { secret: OTHER_RESEND_SECRET }))).toEqual(REFUSED)
  })

  it('One right signature among several is enough', async () => {
    const zero = `v1,${Buffer.alloc(32).toString('base64')}`
    for (const entries of [`${zero} ${signature}`, `v1a,x ${signature}`, `v2,${signature.slice(3)} ${signature}`]) {
      expect(await withHeaders({ 'svix-signature': entries })).toMatchObject({ outcome: 'events' })
    }
    expect(await withHeaders({ 'svix-signature': `${`${zero} `.repeat(16)}${signature}` })).toEqual(REFUSED)
  })

  it('Any change of the signed headers is refused', async () => {
    expect(await withHeaders({})).toMatchObject({ outcome: 'events' })
    for (const change of [
      { 'svix-id': 'msg_x' },
      { 'svix-id': '' },
      { 'svix-timestamp': `${NOW_SECONDS + 1}` },
      { 'svix-timestamp': `${NOW_SECONDS}.0` },
      { 'svix-signature': '' },
      { 'svix-signature': signature.slice(3) },
      { 'svix-signature': `v1a,${signature.slice(3)}` },
      { 'svix-signature': signature.slice(0, -6) },
    ]) {
      expect(await withHeaders(change)).toEqual(REFUSED)
    }
  })

  it('A timestamp 5 minutes away is accepted, a farther one is refused', async () => {
    const at = (offset: number) => source.receive(resendRequest(body, { seconds: NOW_SECONDS + offset }))
    for (const offset of [-300, 300]) expect(await at(offset)).toMatchObject({ outcome: 'events' })
    for (const offset of [-301, 301]) expect(await at(offset)).toEqual(REFUSED)
  })
})

describe('the events of Resend', () => {
  it.each([
    ['email.delivered', {}, { kind: 'delivered' }],
    ['email.delivery_delayed', {}, { kind: 'delayed' }],
    ['email.complained', {}, { kind: 'complained' }],
    ['email.opened', {}, { kind: 'opened' }],
    ['email.clicked', { click: { link: 'https://example.com' } }, { kind: 'clicked' }],
    [
      'email.bounced',
      { bounce: { type: 'Permanent', subType: 'General', message: 'smtp; 550 5.1.1 user unknown' } },
      { kind: 'bounced', isPermanent: true, code: '5.1.1' },
    ],
    [
      'email.bounced',
      { bounce: { type: 'Transient', subType: 'MailboxFull' } },
      { kind: 'bounced', code: 'mailbox_full' },
    ],
    ['email.bounced', { bounce: { message: 'a hard bounce' } }, { kind: 'bounced' }],
    ['email.failed', { failed: { reason: 'reached_daily_quota' } }, { kind: 'bounced', code: 'reached_daily_quota' }],
    [
      'email.suppressed',
      { suppressed: { type: 'OnAccountSuppressionList' } },
      { kind: 'bounced', isPermanent: true, code: 'on_account_suppression_list' },
    ],
    ['email.suppressed', {}, { kind: 'bounced', isPermanent: true, code: 'suppressed' }],
    ['email.failed', {}, { kind: 'bounced', code: 'failed' }],
    ['email.sent', {}, { kind: 'unknown', code: 'email_sent' }],
    ['domain.created', {}, { kind: 'unknown', code: 'domain_created' }],
    ['constructor', {}, { kind: 'unknown', code: 'constructor' }],
  ])('%s with %j becomes %j', async (type, more, expected) => {
    expect(await read(type, more)).toEqual({ ...EVENT, ...expected })
  })

  it('A contact that unsubscribes is about its own address', async () => {
    const contact = { to: undefined, email_id: undefined, email: 'ada@example.com' }
    expect(await read('contact.updated', { ...contact, unsubscribed: true })).toMatchObject({
      kind: 'unsubscribed',
      address: 'ada@example.com',
    })
    expect(await read('contact.updated', { ...contact, unsubscribed: false })).toMatchObject({
      kind: 'unknown',
      code: 'contact_updated',
    })
  })

  it('The delivery id is the tag sallyport_delivery_id, in both forms of tags', async () => {
    for (const tags of [
      { category: 'news', sallyport_delivery_id: 'dlv_01' },
      [
        { name: 'category', value: 'news' },
        { name: 'sallyport_delivery_id', value: 'dlv_01' },
      ],
    ]) {
      expect(await read('email.opened', { tags })).toEqual({ ...EVENT, kind: 'opened', deliveryId: 'dlv_01' })
    }
    for (const tags of [null, 7, [null], [{ name: 'sallyport_delivery_id' }]]) {
      expect(await read('email.opened', { tags })).toEqual({ ...EVENT, kind: 'opened' })
    }
  })

  it('A message to several has no address', async () => {
    expect(await read('email.complained', { to: ['a@example.com', 'b@example.com'] })).not.toHaveProperty('address')
  })

  it('A repetition has the id of the first', async () => {
    const body = JSON.stringify({ type: 'email.opened' })
    const [first] = await eventsOf(source, resendRequest(body))
    const [again] = await eventsOf(source, resendRequest(body, { seconds: NOW_SECONDS - 60 }))
    expect(again).toEqual(first)
    const [other] = await eventsOf(source, resendRequest(body, { id: 'msg_other' }))
    expect(other?.eventId).toBe('msg_other')
  })

  it('1,000 requests have their own ids', async () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => `msg_${index}`)
    const bodies = await Promise.all(
      ids.map((id) => eventsOf(source, resendRequest('{"type":"email.opened"}', { id }))),
    )
    expect(bodies.map(([event]) => event?.eventId)).toEqual(ids)
  })

  it('An id that is too long is replaced by its digest', async () => {
    const [event] = await eventsOf(source, resendRequest('no JSON', { id: 'm'.repeat(200) }))
    expect(event).toEqual({ kind: 'unknown', eventId: expect.stringMatching(/^[\w-]{43}$/), code: 'unknown_shape' })
  })
})
