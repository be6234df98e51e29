import type { RequestListener } from 'node:http'
import { createSallyport, defineEvents, type Sallyport, type SallyportOptions } from 'sallyport'
import { email } from 'sallyport/channels/email'
import { sms } from 'sallyport/channels/sms'
import { twilio } from 'sallyport/feedback/twilio'
import { toFetch } from 'sallyport/fetch'
import { type ConsentApi, type ConsentOptions, consent } from 'sallyport/plugins'
import { memoryStore } from 'sallyport/storage/memory'
import type { SMTPServerOptions } from 'smtp-server'
import { describe, expect, it } from 'vitest'
import type { Channel } from '../../../src/ports/channel.ts'
import { transportTo } from '../../channels/letters.ts'
import { bodyOf, httpPeer, smtpPeer } from '../../channels/peers.ts'
import { TWILIO_TOKEN, TWILIO_URL, twilioRequest } from '../../feedback/signers.ts'
import { countingIds, recordingLogger, testAuth } from '../../support/deps.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { recordingChannel } from '../../support/recording-channel.ts'
import { aroundRecords } from '../../support/records.ts'
import { KEY, overHttp } from './consenting.ts'

const JANE = 'jane@example.com'
const PHONE = '+15558675310'

const events = defineEvents({
  order: { channels: { a: { subject: () => 'Shipped', text: () => 'On its way' } } },
  code: { critical: true, channels: { a: { subject: () => 'Code', text: () => '123' } } },
})
const texts = defineEvents({
  order: { category: 'orders', channels: { a: { text: () => 'On its way' } } },
  news: { category: 'news', channels: { a: { text: () => 'News' } } },
})

function host(a: Channel, options: Partial<SallyportOptions<unknown>> = {}, more: Partial<ConsentOptions> = {}) {
  const clock = fakeClock(Date.UTC(2027, 0, 15, 12))
  const logger = recordingLogger()
  const sallyport = createSallyport<unknown>({
    ...{ auth: testAuth, events, store: memoryStore({ clock }), clock, logger, ids: countingIds() },
    ...{ channels: { a }, plugins: [consent({ keys: [KEY], ...more })], ...options },
  }) as Sallyport<unknown> & ConsentApi
  /** Dispatches and sends; the status, reason, code and enhanced status of the delivery. */
  const send = async (eventType: string, recipient: string): Promise<string> => {
    const answer = await sallyport.dispatch({ eventType, recipient })
    await sallyport.worker.runDue()
    const found = await sallyport.dispatches.get(answer.ok ? answer.body.dispatchId : '')
    const { status, reason, attemptLog: [attempt] = [] } = found?.deliveries[0] ?? {}
    return [status, reason, attempt?.code, attempt?.enhancedStatus].filter(Boolean).join(' ')
  }
  const suppressed = async (address: string): Promise<readonly string[]> =>
    (await sallyport.suppressions.find({ address })).map(({ reason, source, category }) =>
      [reason, source, category].filter(Boolean).join(' '),
    )
  return { sallyport, send, suppressed, clock, logger }
}

/** A mail server that answers RCPT with this reply. */
function refusing(reply: string): SMTPServerOptions {
  return {
    onRcptTo(_address, _session, callback) {
      callback(Object.assign(new Error(reply.slice(4)), { responseCode: Number(reply.slice(0, 3)) }))
    },
  }
}

describe('a mailbox that a mail server refuses', () => {
  it.each(['550 5.1.1 No such user', '550 5.1.10 Null MX', '550 5.2.1 Mailbox disabled', '553 5.1.3 Malformed'])(
    'is suppressed after the first mail, also for critical events: %s',
    async (reply) => {
      const port = await smtpPeer(refusing(reply))
      const { sallyport, send, suppressed } = host(email(transportTo(port), { from: 'shop@example.com' }))
      const [code = '', status = ''] = reply.split(' ')
      expect(await send('order', JANE)).toBe(`failed provider_rejected smtp_${code} ${status}`)
      expect(await suppressed(JANE)).toEqual(['bounced send'])
      // The failed delivery shows that a retry would not be sent.
      const failed = await sallyport.dispatches.get('dsp_1')
      expect(failed?.deliveries[0]?.suppressions).toMatchObject([{ reason: 'bounced', source: 'send' }])
      expect(await send('order', JANE)).toBe('skipped suppressed')
      expect(await send('code', JANE)).toBe('skipped suppressed')
    },
  )

  it.each([
    ['550 5.7.1 Blocked', 'failed provider_rejected smtp_550 5.7.1'],
    ['550 No such user', 'failed provider_rejected smtp_550'],
    ['550 5.1.11 Unknown', 'failed provider_rejected smtp_550 5.1.11'],
    ['450 4.2.1 Greylisted', 'queued smtp_450 4.2.1'],
    ['450 5.1.1 Confused', 'queued smtp_450 5.1.1'],
  ])('is not suppressed by another refusal: %s', async (reply, outcome) => {
    const port = await smtpPeer(refusing(reply))
    const { send, suppressed } = host(email(transportTo(port), { from: 'shop@example.com' }))
    expect(await send('order', JANE)).toBe(outcome)
    expect(await suppressed(JANE)).toEqual([])
  })

  it('is not suppressed by the refusal of a copy', async () => {
    const port = await smtpPeer({
      onRcptTo({ address }, _session, callback) {
        const [responseCode, text] = address === JANE ? [550, '5.7.1 Blocked'] : [550, '5.1.1 No such user']
        callback(Object.assign(new Error(text), { responseCode }))
      },
    })
    const copied = defineEvents({
      order: { channels: { a: { subject: () => 'x', text: () => 'x', cc: () => 'gone@example.com' } } },
    })
    const { send, suppressed } = host(email(transportTo(port), { from: 'shop@example.com' }), { events: copied })
    expect(await send('order', JANE)).toBe('failed provider_rejected smtp_550 5.7.1')
    expect(await suppressed(JANE)).toEqual([])
  })
})

const CALLBACK = TWILIO_URL

/** An API like Twilio's that refuses with this error, and records the forms that it got. */
async function texting(error: number | undefined, options: object = {}) {
  const forms: URLSearchParams[] = []
  const answer: RequestListener = async (request, response) => {
    forms.push(new URLSearchParams(await bodyOf(request)))
    response.writeHead(error === undefined ? 201 : 400, { 'content-type': 'application/json' })
    response.end(JSON.stringify(error === undefined ? { sid: 'SM1' } : { code: error }))
  }
  const port = await httpPeer(answer)
  const channel = sms({
    ...{ accountSid: 'AC1', authToken: 'token', from: '+15550001111', baseUrl: `http://127.0.0.1:${port}` },
    ...options,
  })
  const source = twilio({ channel: 'a', authToken: TWILIO_TOKEN, url: CALLBACK })
  const running = host(channel, { events: texts }, { feedback: { tw: source } })
  const fetch = toFetch(running.sallyport)
  const report = async (fields: Readonly<Record<string, string>>, query = ''): Promise<number> => {
    const request = twilioRequest(fields, { query })
    const asked = overHttp(`tw${query}`, request, ['x-twilio-signature'])
    return (await fetch(asked)).status
  }
  return { ...running, forms, report }
}

const inbound = (Body: string, MessageSid: string, more: object = {}) => ({
  ...{ MessageSid, SmsStatus: 'received', From: PHONE, To: '+15550001111', Body },
  ...more,
})

describe('a number that Twilio refuses', () => {
  it.each([
    [21610, 'unsubscribed send'],
    [21211, 'bounced send'],
    [21614, 'bounced send'],
  ])('is suppressed after error %d', async (error, expected) => {
    const { send, suppressed, forms, logger } = await texting(error)
    expect(await send('order', PHONE)).toBe(`failed provider_rejected twilio_${error}`)
    expect(await suppressed(PHONE)).toEqual([expected])
    expect(await send('news', PHONE)).toBe('skipped suppressed')
    expect(forms).toHaveLength(1)
    expect(logger.lines.map(({ event }) => event)).toContain('delivery.address_suppressed')
  })

  it.each([[30_001], [21408]])('is not suppressed after error %d', async (error) => {
    const { send, suppressed } = await texting(error)
    expect(await send('order', PHONE)).toBe(`failed provider_rejected twilio_${error}`)
    expect(await suppressed(PHONE)).toEqual([])
  })

  it('is suppressed for the whole channel by a status callback, until its owner texts START', async () => {
    const { send, suppressed, report } = await texting(undefined, { statusCallback: CALLBACK })
    expect(await send('order', PHONE)).toBe('sent')
    const failed = { MessageSid: 'SM1', MessageStatus: 'undelivered', ErrorCode: '21610', To: PHONE }
    expect(await report(failed, '?sallyport_delivery_id=dlv_1')).toBe(200)
    expect(await suppressed(PHONE)).toEqual(['unsubscribed tw'])
    expect(await send('news', PHONE)).toBe('skipped suppressed')
    expect(await report(inbound(' start ', 'SM2'))).toBe(200)
    expect(await suppressed(PHONE)).toEqual([])
    expect(await send('news', PHONE)).toBe('sent')
  })

  it('gets the URL of the status callback with the delivery id', async () => {
    const { send, forms } = await texting(undefined, { statusCallback: CALLBACK })
    await send('order', PHONE)
    expect(forms[0]?.get('StatusCallback')).toMatch(
      /^https:\/\/api\.example\.com\/feedback\/twilio\?sallyport_delivery_id=dlv_\d+$/,
    )
    const without = await texting(undefined)
    await without.send('order', PHONE)
    expect(without.forms[0]?.has('StatusCallback')).toBe(false)
  })
})

describe('a text from a recipient', () => {
  it.each(['STOP', 'Stop', ' unsubscribe\n', 'QUIT'])('%j stops all messages of the channel', async (text) => {
    const { send, suppressed, report } = await texting(undefined)
    expect(await report(inbound(text, 'SM5'))).toBe(200)
    expect(await suppressed(PHONE)).toEqual(['unsubscribed tw'])
    expect(await send('order', PHONE)).toBe('skipped suppressed')
  })

  it('counts by the type that Twilio gives, in any language', async () => {
    const { suppressed, report } = await texting(undefined)
    await report(inbound('ARRET', 'SM5', { OptOutType: 'STOP' }))
    expect(await suppressed(PHONE)).toEqual(['unsubscribed tw'])
    await report(inbound('REPRENDRE', 'SM6', { OptOutType: 'START' }))
    expect(await suppressed(PHONE)).toEqual([])
  })

  it.each(['stop it', 'please STOP', 'HELP', '', 'not now'])('%j changes nothing', async (text) => {
    const { suppressed, report } = await texting(undefined)
    expect(await report(inbound(text, 'SM5'))).toBe(200)
    expect(await suppressed(PHONE)).toEqual([])
  })

  it('START undoes no later STOP when Twilio repeats it, and no bounce', async () => {
    const { suppressed, report, sallyport } = await texting(undefined)
    await sallyport.suppressions.add({ channel: 'a', address: PHONE, reason: 'bounced' })
    await report(inbound('STOP', 'SM5'))
    await report(inbound('START', 'SM6'))
    expect(await suppressed(PHONE)).toEqual(['bounced host'])
    await report(inbound('STOP', 'SM7'))
    await report(inbound('START', 'SM6'))
    expect([...(await suppressed(PHONE))].sort()).toEqual(['bounced host', 'unsubscribed tw'])
    // A repeated STOP does not undo START.
    await report(inbound('START', 'SM8'))
    await report(inbound('STOP', 'SM5'))
    expect(await suppressed(PHONE)).toEqual(['bounced host'])
  })
})

describe('a refused address', () => {
  it('is only logged when the store fails, and the delivery ends as refused', async () => {
    const refused = recordingChannel([{ outcome: 'rejected', code: 'gone', suppress: 'bounced' }])
    const clock = fakeClock()
    const store = memoryStore({ clock })
    const change = () => Promise.reject(new Error('the database is down'))
    const { send, logger } = host(refused, { store: aroundRecords(store, 'suppressions', { change }), clock })
    expect(await send('order', JANE)).toBe('failed provider_rejected gone')
    expect(logger.lines.map(({ event }) => event)).toContain('delivery.suppress_failed')
  })

  it.each([['soft'], [true], [null], [{}]])('is not suppressed as %j', async (suppress) => {
    const { send, suppressed } = host(
      recordingChannel([{ outcome: 'rejected', code: 'gone', suppress: suppress as never }]),
    )
    expect(await send('order', JANE)).toBe('failed provider_rejected gone')
    expect(await suppressed(JANE)).toEqual([])
  })

  it('needs no plugin: without one nothing is stored', async () => {
    const refused = recordingChannel([{ outcome: 'rejected', code: 'gone', suppress: 'bounced' }])
    const { send } = host(refused, { plugins: [] })
    expect(await send('order', JANE)).toBe('failed provider_rejected gone')
  })
})
