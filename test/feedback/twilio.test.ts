import { twilio } from 'sallyport/feedback/twilio'
import { describe, expect, it, vi } from 'vitest'
import type { FeedbackTrial } from '../../src/contract-tests/index.ts'
import type { FeedbackRequest } from '../../src/ports/feedback-source.ts'
import { WORD } from '../options/option-rows.ts'
import { testOptions } from '../options/option-tests.ts'
import { eventsOf, REFUSED, requestOf } from './requests.ts'
import { TWILIO_QUERY, TWILIO_TOKEN, TWILIO_URL, twilioJson, twilioRequest } from './signers.ts'
import { NO_BASE64, NO_PROOF, SECRETS, SOURCE_OPTIONS, testSource } from './source-tests.ts'

const source = twilio({ channel: 'sms', authToken: TWILIO_TOKEN, url: TWILIO_URL })

const FIELDS = {
  SmsSid: 'SM2xxxxxx',
  SmsStatus: 'sent',
  MessageStatus: 'delivered',
  To: '+15558675310',
  MessageSid: 'SM2xxxxxx',
  AccountSid: 'ACxxxxxxx',
  From: '+15017122661',
  ApiVersion: '2010-04-01',
}
const EVENT = { deliveryId: 'dlv_01', providerMessageId: 'SM2xxxxxx', address: '+15558675310' }

async function read(fields: Readonly<Record<string, string>>): Promise<object | undefined> {
  const [event] = await eventsOf(source, twilioRequest({ ...FIELDS, ...fields }))
  return event
}

/** The same request with another body, URL or signature. */
function changed(
  request: FeedbackRequest,
  change: { body?: string; url?: string; signature?: string },
): FeedbackRequest {
  const { body = request.body, url = request.url, signature = request.header('x-twilio-signature') ?? '' } = change
  return requestOf({ body, url, headers: { 'x-twilio-signature': signature } })
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

testSource('twilio', {
  create: twilioTrial,
  capabilities: { expires: false },
  maxBytes: 262_144,
  head: { 'x-twilio-signature': [...NO_BASE64, 'A'.repeat(28), `${'A'.repeat(27)}=x`] },
})

testOptions(
  'sallyport/feedback/twilio twilio',
  'TwilioOptions',
  twilio,
  { channel: 'sms', authToken: 't', url: 'https://api.example.com/feedback' },
  {
    ...SOURCE_OPTIONS,
    authToken: SECRETS,
    url: [
      ...WORD,
      'x',
      'http://api.example.com/',
      'https://a:b@api.example.com/',
      'https://a.example/?q',
      'https://a b',
    ],
  },
)

describe('the proof of Twilio', () => {
  it('The published example is accepted', async () => {
    const published = twilio({ channel: 'sms', authToken: '12345', url: 'https://mycompany.com/myapp.php' })
    const body = 'CallSid=CA1234567890ABCDE&Caller=%2B14158675309&Digits=1234&From=%2B14158675309&To=%2B18005551212'
    const headers = { 'x-twilio-signature': 'RSOYDt4T1cUTdK1PDd93/VVr8B8=' }
    const request = requestOf({ body, headers, url: '/myapp.php?foo=1&bar=2' })
    expect(await eventsOf(published, request)).toMatchObject([{ kind: 'unknown', code: 'unknown_shape' }])
  })

  it('Another token, body, path, query and signature is refused', async () => {
    const request = twilioRequest(FIELDS)
    expect(await source.receive(twilioRequest(FIELDS, { token: 'other' }))).toEqual(REFUSED)
    expect(await source.receive(twilioRequest(FIELDS, { url: 'https://evil.example/feedback/twilio' }))).toEqual(
      REFUSED,
    )
    const text = new TextDecoder().decode(request.body)
    for (const change of [
      { body: text.replace('delivered', 'failed') },
      { body: text.slice(0, -1) },
      { body: `${text}&ErrorCode=30005` },
      { url: '/feedback/twilio?sallyport_delivery_id=dlv_02' },
      { url: '/feedback/twilio' },
      { url: `/feedback/twilio${TWILIO_QUERY}&bodySHA256=0` },
      { signature: '' },
      { signature: 'x' },
    ]) {
      expect(await source.receive(changed(request, change))).toEqual(REFUSED)
    }
    expect(await source.receive(requestOf({ body: request.body, url: request.url }))).toEqual(REFUSED)
  })

  it('The order of the parameters and the path inside the host do not count', async () => {
    const request = twilioRequest(FIELDS)
    const reversed = new URLSearchParams(Object.entries(FIELDS).reverse()).toString()
    for (const change of [{ body: reversed }, { url: `/v1/inner${TWILIO_QUERY}` }, { url: `${request.url}#x` }]) {
      expect(await source.receive(changed(request, change))).toMatchObject({ outcome: 'events' })
    }
  })

  it('Repeated parameters are accepted in any order', async () => {
    for (const MediaUrl of [
      ['b', 'a'],
      ['a', 'b', 'a'],
    ])
      expect(await source.receive(twilioRequest({ ...FIELDS, MediaUrl }))).toMatchObject({ outcome: 'events' })
  })

  it('A URL signed with its default port is accepted, and the other way round', async () => {
    const withPort = 'https://api.example.com:443/feedback/twilio'
    expect(await source.receive(twilioRequest(FIELDS, { url: withPort }))).toMatchObject({ outcome: 'events' })
    const other = twilio({ channel: 'sms', authToken: TWILIO_TOKEN, url: withPort })
    expect(await other.receive(twilioRequest(FIELDS))).toMatchObject({ outcome: 'events' })
    const local = twilio({ channel: 'sms', authToken: TWILIO_TOKEN, url: 'http://[::1]:3000/x' })
    expect(await local.receive(twilioRequest(FIELDS, { url: 'http://[::1]:3000/x' }))).toMatchObject({
      outcome: 'events',
    })
    const wrong = 'https://api.example.com:8443/feedback/twilio'
    expect(await source.receive(twilioRequest(FIELDS, { url: wrong }))).toEqual(REFUSED)
  })

  it('The default port of http is 80, and only on this machine', async () => {
    const local = twilio({ channel: 'sms', authToken: TWILIO_TOKEN, url: 'http://localhost/x' })
    for (const [url, outcome] of [
      ['http://localhost/x', 'events'],
      ['http://localhost:80/x', 'events'],
      ['http://localhost:443/x', 'refused'],
      ['https://localhost/x', 'refused'],
    ] as const)
      expect([url, (await local.receive(twilioRequest(FIELDS, { url }))).outcome]).toEqual([url, outcome])
  })

  it.each([
    ['http://api.example.com/x'],
    ['ftp://localhost/x'],
    ['https://user@api.example.com/x'],
    ['https://:secret@api.example.com/x'],
    ['https://api.example.com/x?a=b'],
    ['https://api.example.com/x#a'],
    ['https://api.example.com/x y'],
    ['/x'],
    [7 as never],
  ])('The URL %s stops the start', (url) => {
    expect(() => twilio({ channel: 'sms', authToken: 'a', url })).toThrow(
      'must be an https: URL without credentials and query (http: only for this machine)',
    )
  })

  it.each([['https://api.example.com'], ['http://127.0.0.1:3000/x'], ['http://[::1]/x']])(
    'The URL %s is taken',
    (url) => {
      expect(twilio({ channel: 'sms', authToken: 'a', url })).toMatchObject({ channel: 'sms', tenant: 'default' })
    },
  )

  it('Each token of a list is accepted', async () => {
    const both = twilio({ channel: 'sms', authToken: ['next', TWILIO_TOKEN], url: TWILIO_URL })
    for (const token of ['next', TWILIO_TOKEN]) {
      expect(await both.receive(twilioRequest(FIELDS, { token }))).toMatchObject({ outcome: 'events' })
    }
  })

  it('A body of JSON needs its digest in the query', async () => {
    const request = twilioJson('[]')
    expect(await source.receive(request)).toMatchObject({ outcome: 'events' })
    expect(await source.receive(changed(request, { body: '[{}]' }))).toEqual(REFUSED)
    const withoutDigest = twilioRequest({}, { query: '' })
    expect(await source.receive(changed(withoutDigest, { body: '[]' }))).toEqual(REFUSED)
  })
})

describe('the events of Twilio', () => {
  it.each([
    [{ MessageStatus: 'delivered' }, { kind: 'delivered' }],
    [
      { MessageStatus: 'undelivered', ErrorCode: '30005' },
      { kind: 'bounced', isPermanent: true, code: 'twilio_30005' },
    ],
    [
      { MessageStatus: 'undelivered', ErrorCode: '30003' },
      { kind: 'bounced', code: 'twilio_30003' },
    ],
    [
      { MessageStatus: 'failed', ErrorCode: '30007' },
      { kind: 'bounced', code: 'twilio_30007' },
    ],
    [{ MessageStatus: 'failed' }, { kind: 'bounced', code: 'failed' }],
    [
      { MessageStatus: 'failed', ErrorCode: '+15558675310' },
      { kind: 'bounced', code: 'failed' },
    ],
    [
      { MessageStatus: 'failed', ErrorCode: '0' },
      { kind: 'bounced', code: 'failed' },
    ],
    [
      { MessageStatus: 'failed', ErrorCode: '300071234' },
      { kind: 'bounced', code: 'failed' },
    ],
    [{ MessageStatus: 'delivered', ErrorCode: '30007', MessageSid: '' }, { kind: 'delivered' }],
    [{ MessageStatus: 'read' }, { kind: 'opened' }],
    [{ MessageStatus: 'sent' }, { kind: 'unknown', code: 'sent' }],
    [{ MessageStatus: 'queued' }, { kind: 'unknown', code: 'queued' }],
    [{ MessageStatus: '__proto__' }, { kind: 'unknown' }],
    [{ MessageStatus: '', SmsStatus: 'delivered' }, { kind: 'delivered' }],
  ])('%j becomes %j', async (fields, expected) => {
    expect(await read(fields)).toEqual({ ...EVENT, eventId: expect.stringMatching(/^[\w-]{43}$/), ...expected })
  })

  it('A repetition has the id of the first, and another status another', async () => {
    const idOf = async (fields: Readonly<Record<string, string>>) => Reflect.get(Object(await read(fields)), 'eventId')
    expect(await idOf({})).toBe(await idOf({ ApiVersion: '2020' }))
    const ids = [{}, { MessageStatus: 'sent' }, { MessageSid: 'SM3' }, { ErrorCode: '30003' }].map(idOf)
    expect(new Set(await Promise.all(ids)).size).toBe(4)
  })

  it('A form without a message, and one of the keys of prototypes, has an event unknown', async () => {
    for (const fields of [{}, { MessageSid: 'SM1' }, { __proto__x: 'a' }, { ['__proto__']: 'a' }]) {
      const [event] = await eventsOf(source, twilioRequest(fields))
      expect(event).toMatchObject({ kind: 'unknown', code: 'unknown_shape' })
    }
  })

  it('A callback without a query has no delivery id', async () => {
    const [event] = await eventsOf(source, twilioRequest(FIELDS, { query: '' }))
    expect(event).not.toHaveProperty('deliveryId')
  })

  it('1,000 events of a stream are read in their order', async () => {
    const items = Array.from({ length: 1_000 }, (_, index) => ({
      specversion: '1.0',
      type: index === 0 ? 'com.twilio.messaging.message.undelivered' : 'com.twilio.messaging.message.delivered',
      id: `EZ${index}`,
      time: '2027-01-15T11:59:00.000Z',
      data: { messageSid: `SM${index}`, to: '+15558675310', ...(index === 0 && { errorCode: 30_006 }) },
    }))
    const events = await eventsOf(source, twilioJson(JSON.stringify([...items, { type: 'other', id: 'x' }, 7])))
    expect(events).toHaveLength(1_002)
    expect(events[0]).toEqual({
      ...{ kind: 'bounced', eventId: 'EZ0', at: Date.UTC(2027, 0, 15, 11, 59), providerMessageId: 'SM0' },
      ...{ address: '+15558675310', isPermanent: true, code: 'twilio_30006' },
    })
    expect(events[999]).toMatchObject({ kind: 'delivered', eventId: 'EZ999' })
    expect(events[1_000]).toEqual({ kind: 'unknown', eventId: 'x', code: 'other' })
    expect(events[1_001]).toMatchObject({ kind: 'unknown', code: 'unknown_shape' })
    const shapeless = await eventsOf(source, twilioJson('[7, {"type": "a"}, {"id": "b"}, {}]'))
    expect(shapeless.map(({ code }) => code)).toEqual(Array(4).fill('unknown_shape'))
    expect(new Set(shapeless.map(({ eventId }) => eventId)).size).toBe(4)
  })
})

describe('a form of Twilio', () => {
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
