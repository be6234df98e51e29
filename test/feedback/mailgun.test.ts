import { mailgun } from 'sallyport/feedback/mailgun'
import { describe, expect, it } from 'vitest'
import type { FeedbackTrial } from '../../src/contract-tests/index.ts'
import { testOptions } from '../options/option-tests.ts'
import { eventsOf, NOW, NOW_SECONDS, REFUSED, requestOf } from './requests.ts'
import { MAILGUN_KEY, MAILGUN_TOKEN, mailgunRequest } from './signers.ts'
import { AGE, NO_PROOF, SECRETS, SOURCE_OPTIONS, testSource } from './source-tests.ts'

const source = mailgun({ channel: 'email', signingKey: MAILGUN_KEY })

const DATA = {
  id: 'hTWCTD81RtiDN-wMTZVcfQ',
  timestamp: 1_534_108_637.153125,
  recipient: 'recipient@example.com',
  message: { headers: { 'message-id': '20180812211713.1.DF5966851B4BAA99@example.org' } },
  'user-variables': {},
}
const EVENT = {
  eventId: DATA.id,
  at: 1_534_108_637_153,
  providerMessageId: '<20180812211713.1.DF5966851B4BAA99@example.org>',
  address: 'recipient@example.com',
}

async function read(more: object): Promise<object | undefined> {
  const [event] = await eventsOf(source, await mailgunRequest(JSON.stringify({ ...DATA, ...more })))
  return event
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

testSource('mailgun', {
  create: mailgunTrial,
  capabilities: { coversBody: false },
  maxBytes: 262_144,
})

testOptions(
  'sallyport/feedback/mailgun mailgun',
  'MailgunOptions',
  mailgun,
  { channel: 'email', signingKey: 'k' },
  { ...SOURCE_OPTIONS, ...AGE, signingKey: SECRETS },
)

describe('the proof of Mailgun', () => {
  it('The token counts once, until the timestamp is refused', async () => {
    const request = await mailgunRequest('{"event":"opened"}')
    expect(await source.receive(request)).toMatchObject({
      outcome: 'events',
      onceToken: MAILGUN_TOKEN,
      onceUntil: NOW + 32_400_000,
    })
    expect(await source.receive({ ...request, now: NOW + 32_400_000 })).toMatchObject({ onceToken: MAILGUN_TOKEN })
    expect(await source.receive({ ...request, now: NOW + 32_400_001 })).toEqual(REFUSED)
  })

  it('Another key, token, timestamp and signature is refused', async () => {
    const event = '{"event":"opened"}'
    expect(await source.receive(await mailgunRequest(event, { key: 'other' }))).toEqual(REFUSED)
    const body = new TextDecoder().decode((await mailgunRequest(event)).body)
    for (const other of [
      body.replace(MAILGUN_TOKEN, MAILGUN_TOKEN.replace('6', '7')),
      body.replace(`${NOW_SECONDS}`, `${NOW_SECONDS + 1}`),
      body.replace(/"signature":"./, '"signature":"x'),
      body.replace(/"signature":"[^"]+"/, '"signature":""'),
      body.replace(/"signature":"[^"]+"/, '"signature":7'),
      body.replace(/"token":"[^"]+"/, '"token":{}'),
      body.slice(0, -2),
      '{"signature":{"__proto__":{"timestamp":"1","token":"a","signature":"b"}}}',
    ]) {
      expect(other).not.toBe(body)
      expect(await source.receive(requestOf({ body: other }))).toEqual(REFUSED)
    }
  })

  it('Digits that move between the timestamp and the token make it too old or too new', async () => {
    const event = '{"event":"opened"}'
    const body = new TextDecoder().decode((await mailgunRequest(event)).body)
    const [seconds, token] = [`${NOW_SECONDS}`, MAILGUN_TOKEN]
    for (const [time, rest] of [
      [seconds + token.slice(0, 1), token.slice(1)],
      [seconds.slice(0, -1), seconds.slice(-1) + token],
    ] as const) {
      const moved = body.replace(`"${seconds}"`, `"${time}"`).replace(`"${token}"`, `"${rest}"`)
      expect(await source.receive(requestOf({ body: moved }))).toEqual(REFUSED)
    }
  })

  it('A timestamp of 9 hours ago is accepted, an older one and one in the future is refused', async () => {
    const at = async (offset: number) => source.receive(await mailgunRequest('{}', { seconds: NOW_SECONDS + offset }))
    for (const offset of [-32_400, 300]) expect(await at(offset)).toMatchObject({ outcome: 'events' })
    for (const offset of [-32_401, 301]) expect(await at(offset)).toEqual(REFUSED)
    for (const seconds of ['', 'x', '1e9', '-1']) {
      expect(await source.receive(await mailgunRequest('{}', { seconds }))).toEqual(REFUSED)
    }
  })

  it('Each key of a list is accepted', async () => {
    const both = mailgun({ channel: 'email', signingKey: ['next', MAILGUN_KEY] })
    for (const key of ['next', MAILGUN_KEY]) {
      expect(await both.receive(await mailgunRequest('{}', { key }))).toMatchObject({ outcome: 'events' })
    }
  })
})

describe('the events of Mailgun', () => {
  const failed = { event: 'failed', severity: 'permanent' }
  it.each([
    [{ event: 'delivered', 'delivery-status': { code: 250 } }, { kind: 'delivered' }],
    [{ event: 'accepted' }, { kind: 'unknown', code: 'accepted' }],
    [
      { event: 'rejected', reject: { reason: 'Sandbox' } },
      { kind: 'bounced', code: 'rejected' },
    ],
    [
      { ...failed, reason: 'bounce', 'delivery-status': { message: '5.1.1 The email account\n5.1.1 does not exist' } },
      { kind: 'bounced', isPermanent: true, code: '5.1.1' },
    ],
    [
      { ...failed, reason: 'suppress-bounce', 'delivery-status': { code: 605 } },
      { kind: 'bounced', isPermanent: true, code: 'suppress_bounce' },
    ],
    [
      { ...failed, reason: 'old' },
      { kind: 'bounced', code: 'old' },
    ],
    [
      { ...failed, reason: 'suppress-unsubscribe' },
      { kind: 'bounced', code: 'suppress_unsubscribe' },
    ],
    [
      { event: 'failed', severity: 'temporary', 'delivery-status': { 'enhanced-code': '4.2.2' } },
      { kind: 'delayed', code: '4.2.2' },
    ],
    [
      { event: 'failed', severity: 'temporary', reason: 'greylisted' },
      { kind: 'delayed', code: 'greylisted' },
    ],
    [{ event: 'complained' }, { kind: 'complained' }],
    [{ event: 'unsubscribed' }, { kind: 'unsubscribed' }],
    [{ event: 'opened', ip: '50.56.129.169' }, { kind: 'opened' }],
    [{ event: 'clicked', url: 'https://mailgun.com' }, { kind: 'clicked' }],
    [{ event: 'stored' }, { kind: 'unknown', code: 'stored' }],
  ])('%j becomes %j', async (more, expected) => {
    expect(await read(more)).toEqual({ ...EVENT, ...expected })
  })

  it('The delivery id is the user variable sallyport_delivery_id', async () => {
    const variables = { 'user-variables': { sallyport_delivery_id: 'dlv_01' } }
    expect(await read({ event: 'opened', ...variables })).toMatchObject({ deliveryId: 'dlv_01' })
  })

  it('The Message-ID is in angle brackets, as the email channel records it', async () => {
    for (const id of ['dlv_01@shop.example', '<dlv_01@shop.example>']) {
      expect(await read({ event: 'opened', message: { headers: { 'message-id': id } } })).toMatchObject({
        providerMessageId: '<dlv_01@shop.example>',
      })
    }
  })

  it('A repetition has the id of the first, also with a new proof or without an id', async () => {
    const first = await read({ event: 'opened' })
    const again = await mailgunRequest(JSON.stringify({ ...DATA, event: 'opened' }), { token: 'f'.repeat(50) })
    expect(await eventsOf(source, again)).toEqual([first])
    expect(await read({ event: 'opened', id: undefined })).toEqual(await read({ event: 'opened', id: 7 }))
  })

  it('1,000 requests have their own ids', async () => {
    const ids = Array.from({ length: 1_000 }, (_, index) => `event-${index}`)
    const events = await Promise.all(ids.map((id) => read({ event: 'opened', id })))
    expect(events.map((event) => Reflect.get(Object(event), 'eventId'))).toEqual(ids)
  })
})
