import { generateKeyPairSync } from 'node:crypto'
import { EventWebhook } from '@sendgrid/eventwebhook'
import { sendgrid } from 'sallyport/feedback/sendgrid'
import { describe, expect, it } from 'vitest'
import type { FeedbackTrial } from '../../src/contract-tests/index.ts'
import type { FeedbackSource } from '../../src/ports/feedback-source.ts'
import { testOptions } from '../options/option-tests.ts'
import { DAY_MS, eventsOf, NOW, NOW_SECONDS, REFUSED, requestOf } from './requests.ts'
import { sendgridSigner } from './signers.ts'
import { AGE, NO_BASE64, NO_PROOF, NO_TIME, SECRETS, SOURCE_OPTIONS, testSource } from './source-tests.ts'

const signer = sendgridSigner()
const source = sendgrid({ channel: 'email', publicKey: signer.publicKey })

const BASE = {
  email: 'example@test.com',
  timestamp: 1_513_299_569,
  sg_event_id: 'ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA',
  sg_message_id: '14c5d75ce93.dfd.64b469.filter0001.16648.5515E0B88.0',
}
const EVENT = {
  eventId: BASE.sg_event_id,
  at: 1_513_299_569_000,
  providerMessageId: '14c5d75ce93.dfd.64b469',
  address: BASE.email,
}

async function read(item: object): Promise<object | undefined> {
  const [event] = await eventsOf(source, signer.sign(JSON.stringify([{ ...BASE, ...item }])))
  return event
}

// The example in the tests of SendGrid's own helper.
const PUBLISHED = {
  key: 'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g==',
  signature: 'MEUCIGHQVtGj+Y3LkG9fLcxf3qfI10QysgDWmMOVmxG0u6ZUAiEAyBiXDWzM+uOe5W0JuG+luQAbPIqHh89M15TluLtEZtM=',
  timestamp: '1600112502',
  body: `${JSON.stringify([
    {
      email: 'hello@world.com',
      event: 'dropped',
      reason: 'Bounced Address',
      sg_event_id: 'ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA',
      sg_message_id: 'LRzXl_NHStOGhQ4kofSm_A.filterdrecv-p3mdw1-756b745b58-kmzbl-18-5F5FC76C-9.0',
      'smtp-id': '<LRzXl_NHStOGhQ4kofSm_A@ismtpd0039p1iad1.sendgrid.net>',
      timestamp: 1_600_112_492,
    },
  ])}\r\n`,
}
const headersOf = (signature: string, timestamp: string) => ({
  'x-twilio-email-event-webhook-signature': signature,
  'x-twilio-email-event-webhook-timestamp': timestamp,
})

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

testSource('sendgrid', {
  create: sendgridTrial,
  maxBytes: 1_048_576,
  head: { 'x-twilio-email-event-webhook-signature': NO_BASE64, 'x-twilio-email-event-webhook-timestamp': NO_TIME },
})

const P256 =
  'MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE83T4O/n84iotIvIW4mdBgQ/7dAfSmpqIM8kF9mN1flpVKS3GRqe62gw+2fNNRaINXvVpiglSI8eNEc6wEA3F+g=='
testOptions(
  'sallyport/feedback/sendgrid sendgrid',
  'SendgridOptions',
  sendgrid,
  { channel: 'email', publicKey: P256 },
  { ...SOURCE_OPTIONS, ...AGE, publicKey: [...SECRETS, 'x', P256.slice(0, -8), [P256, 'x']] },
)

describe('the proof of SendGrid', () => {
  it('The published example is accepted', async () => {
    const published = sendgrid({ channel: 'email', publicKey: PUBLISHED.key })
    const headers = headersOf(PUBLISHED.signature, PUBLISHED.timestamp)
    const request = requestOf({ body: PUBLISHED.body, headers, now: 1_600_112_600_000 })
    expect(await eventsOf(published, request)).toEqual([
      {
        kind: 'bounced',
        eventId: 'ZHJvcC0xMDk5NDkxOS1MUnpYbF9OSFN0T0doUTRrb2ZTbV9BLTA',
        at: 1_600_112_492_000,
        providerMessageId: 'LRzXl_NHStOGhQ4kofSm_A',
        address: 'hello@world.com',
        isPermanent: true,
        code: 'bounced_address',
      },
    ])
    const withoutLineEnd = requestOf({ body: PUBLISHED.body.trim(), headers, now: 1_600_112_600_000 })
    expect(await published.receive(withoutLineEnd)).toEqual(REFUSED)
  })

  it('The signatures of these tests are valid for the library of SendGrid', () => {
    const request = signer.sign('[{"event":"ü"}]')
    const library = new EventWebhook()
    const signature = request.header('x-twilio-email-event-webhook-signature') ?? ''
    const isValid = (text: string): boolean =>
      library.verifySignature(library.convertPublicKeyToECDSA(signer.publicKey), text, signature, `${NOW_SECONDS}`)
    expect(isValid('[{"event":"ü"}]')).toBe(true)
    expect(isValid('[{"event":"u"}]')).toBe(false)
  })

  it('A key in PEM and each key of a list is accepted', async () => {
    const other = sendgridSigner()
    const both = sendgrid({ channel: 'email', publicKey: [other.pem, signer.publicKey] })
    for (const one of [signer, other]) expect(await eventsOf(both, one.sign('[]'))).toEqual([])
  })

  it('A foreign, malformed or missing signature, and one of another timestamp, is refused', async () => {
    const request = signer.sign('[]')
    const right = request.header('x-twilio-email-event-webhook-signature') ?? ''
    const wrong = ['', 'x', '!!', right.slice(0, -8), Buffer.alloc(64).toString('base64')]
    for (const signature of wrong) {
      const headers = headersOf(signature, `${NOW_SECONDS}`)
      expect(await source.receive(requestOf({ body: '[]', headers }))).toEqual(REFUSED)
    }
    for (const timestamp of [`${NOW_SECONDS + 1}`, '', 'x', '1e9', ` ${NOW_SECONDS}`, '9'.repeat(400)]) {
      expect(await source.receive(requestOf({ body: '[]', headers: headersOf(right, timestamp) }))).toEqual(REFUSED)
    }
    expect(await source.receive(requestOf({ body: '[]' }))).toEqual(REFUSED)
    expect(await source.receive(sendgridSigner().sign('[]'))).toEqual(REFUSED)
  })

  it('A timestamp of 25 hours ago is accepted, an older one and one in the future is refused', async () => {
    const at = (seconds: number) => source.receive(signer.sign('[]', NOW_SECONDS + seconds))
    for (const seconds of [-90_000, 0, 300]) expect(await at(seconds)).toMatchObject({ outcome: 'events' })
    for (const seconds of [-90_001, 301]) expect(await at(seconds)).toEqual(REFUSED)
    const strict = sendgrid({ channel: 'email', publicKey: signer.publicKey, toleranceSeconds: 60 })
    expect(await strict.receive(signer.sign('[]', NOW_SECONDS - 61))).toEqual(REFUSED)
  })

  it('Only P-256 public keys are options', () => {
    const options = { type: 'spki', format: 'der' } as const
    const keys = [
      generateKeyPairSync('ec', { namedCurve: 'secp256k1' }).publicKey.export(options),
      generateKeyPairSync('ed25519').publicKey.export(options),
    ]
    for (const key of keys) {
      expect(() => sendgrid({ channel: 'email', publicKey: key.toString('base64') })).toThrowError(
        expect.objectContaining({ code: 'option_invalid', message: expect.stringContaining('publicKey') }),
      )
    }
  })
})

describe('the events of SendGrid', () => {
  it.each([
    [{ event: 'delivered', response: '250 OK' }, { kind: 'delivered' }],
    [
      { event: 'deferred', response: '421 4.7.0 try again later' },
      { kind: 'delayed', code: '4.7.0' },
    ],
    [{ event: 'deferred', response: '400 try again later' }, { kind: 'delayed' }],
    [
      { event: 'bounce', type: 'bounce', status: '5.0.0' },
      { kind: 'bounced', isPermanent: true, code: '5.0.0' },
    ],
    [
      { event: 'bounce', type: 'blocked', status: '5.7.1' },
      { kind: 'bounced', code: '5.7.1' },
    ],
    [
      { event: 'bounce', type: 'bounce', status: '4.2.2' },
      { kind: 'bounced', code: '4.2.2' },
    ],
    [
      { event: 'bounce', type: 'bounce', bounce_classification: 'Invalid Address' },
      { kind: 'bounced', isPermanent: true, code: 'invalid_address' },
    ],
    [
      { event: 'bounce', type: 'bounce', bounce_classification: 'Frequency/Volume' },
      { kind: 'bounced', code: 'frequency_volume' },
    ],
    [
      { event: 'dropped', reason: 'Bounced Address' },
      { kind: 'bounced', isPermanent: true, code: 'bounced_address' },
    ],
    [
      { event: 'dropped', reason: 'Unsubscribed Address' },
      { kind: 'bounced', code: 'unsubscribed_address' },
    ],
    [{ event: 'dropped', reason: 'to bob@example.com: no' }, { kind: 'bounced' }],
    [{ event: 'spamreport' }, { kind: 'complained' }],
    [{ event: 'open', useragent: 'x' }, { kind: 'opened' }],
    [{ event: 'click', url: 'https://example.com' }, { kind: 'clicked' }],
    [{ event: 'unsubscribe' }, { kind: 'unsubscribed' }],
    [{ event: 'group_unsubscribe', asm_group_id: 10 }, { kind: 'unsubscribed' }],
    [{ event: 'group_resubscribe' }, { kind: 'unknown', code: 'group_resubscribe' }],
    [{ event: 'processed' }, { kind: 'unknown', code: 'processed' }],
    [{ event: '__proto__' }, { kind: 'unknown' }],
  ])('%j becomes %j', async (item, expected) => {
    expect(await read(item)).toEqual({ ...EVENT, ...expected })
  })

  it('The delivery id is the custom argument sallyport_delivery_id', async () => {
    expect(await read({ event: 'open', sallyport_delivery_id: 'dlv_01' })).toMatchObject({ deliveryId: 'dlv_01' })
    for (const id of [7, '', {}, 'x'.repeat(256), 'a\u0000b', '\ud800']) {
      expect(await read({ event: 'open', sallyport_delivery_id: id })).toEqual({ ...EVENT, kind: 'opened' })
    }
  })

  it('The message id is our Message-ID, else that of the API without the names of servers', async () => {
    const idOf = async (ids: object) =>
      Reflect.get(Object(await read({ event: 'delivered', ...ids })), 'providerMessageId')
    expect(await idOf({ 'smtp-id': '<dlv_01@shop.example>' })).toBe('<dlv_01@shop.example>')
    expect(await idOf({ 'smtp-id': '<14c5d75ce93.dfd.64b469@ismtpd-555>' })).toBe('14c5d75ce93.dfd.64b469')
    expect(await idOf({ 'smtp-id': '<x@geopod-ismtpd-3-2>' })).toBe('14c5d75ce93.dfd.64b469')
    expect(await idOf({ sg_message_id: 'Yh4eVzRk.recvd-5b87f4c5cf-x-1-6.0' })).toBe('Yh4eVzRk')
    expect(await idOf({ sg_message_id: 'plain' })).toBe('plain')
    expect(await idOf({ sg_message_id: 7 })).toBeUndefined()
  })

  it('A batch of 1,000 events is read in its order, and repeats have equal ids', async () => {
    const items = Array.from({ length: 1_000 }, (_, index) => ({ ...BASE, event: 'open', sg_event_id: `e${index}` }))
    const request = signer.sign(JSON.stringify(items))
    const events = await eventsOf(source, request)
    expect(events.map(({ eventId }) => eventId)).toEqual(items.map((item) => item.sg_event_id))
    expect(await eventsOf(source, request)).toEqual(events)
  })

  it('A batch gives at most 10,000 events, and the last one tells of more', async () => {
    const batch = (length: number): Promise<readonly object[]> =>
      eventsOf(source, signer.sign(JSON.stringify(Array.from({ length }, () => ({ ...BASE, event: 'open' })))))
    const all = await batch(10_000)
    expect(all).toHaveLength(10_000)
    expect(all.at(-1)).toMatchObject({ kind: 'opened' })
    const cut = await batch(10_001)
    expect(cut).toHaveLength(10_000)
    expect(cut.at(-1)).toEqual({ kind: 'unknown', eventId: expect.any(String), code: 'too_many_events' })
  })

  it('An item of unknown shape does not hide the others, and has its own id', async () => {
    const items = [{ ...BASE, event: 'open' }, 7, null, [], { event: 7 }]
    const events = await eventsOf(source, signer.sign(JSON.stringify(items)))
    expect(events.map(({ kind }) => kind)).toEqual(['opened', ...Array(4).fill('unknown')])
    expect(new Set(events.map(({ eventId }) => eventId)).size).toBe(5)
  })

  it('An event without an id has one of its content', async () => {
    const of = async (item: object) => Reflect.get(Object(await read({ sg_event_id: undefined, ...item })), 'eventId')
    expect(await of({ event: 'open' })).toBe(await of({ event: 'open' }))
    expect(await of({ event: 'open' })).not.toBe(await of({ event: 'click' }))
    expect(await of({ event: 'open', timestamp: { toString: 1 } })).toMatch(/^[\w-]{43}$/)
  })

  it('A polluted prototype is not read', async () => {
    const polluted: FeedbackSource = source
    Object.defineProperty(Object.prototype, 'sg_event_id', { value: 'polluted', configurable: true })
    try {
      const [event] = await eventsOf(polluted, signer.sign('[{"event":"open"}]'))
      expect(event).not.toMatchObject({ eventId: 'polluted' })
    } finally {
      Reflect.deleteProperty(Object.prototype, 'sg_event_id')
    }
  })

  it('The time of arrival does not change the events', async () => {
    const request = signer.sign(JSON.stringify([{ ...BASE, event: 'open' }]))
    const later = { ...request, now: NOW + DAY_MS }
    expect(await eventsOf(source, later)).toEqual(await eventsOf(source, request))
  })
})
