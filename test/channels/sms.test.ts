import type { IncomingMessage } from 'node:http'
import { type SmsOptions, sms } from 'sallyport/channels/sms'
import { expect, test } from 'vitest'
import type { ChannelTrial } from '../../src/contract-tests/channel-trial.ts'
import type { SendOutcome } from '../../src/ports/channel.ts'
import { CHATTER, httpProvider } from '../contract-tests/channel-trials.ts'
import { FUNCTION, OBJECT, outside, PART, SCHEDULE, TIMEOUT, WORD } from '../options/option-rows.ts'
import { testOptions } from '../options/option-tests.ts'
import { testChannel } from './channel-tests.ts'
import { context, message } from './messages.ts'
import { bodyOf, deadPort, httpPeer, manualClock, NOW, tcpPeer } from './peers.ts'

const ACCOUNT = { accountSid: 'AC123', authToken: 'tökén', from: '+15005550006' }
const TO = '+436601234567'

function channelTo(port: number, options: Partial<SmsOptions> = {}) {
  return sms({ ...ACCOUNT, baseUrl: `http://127.0.0.1:${port}/`, ...options })
}

async function provider(status: number, answer: unknown, headers: Record<string, string> = {}) {
  const requests: { request: IncomingMessage; form: Record<string, string> }[] = []
  const port = await httpPeer(async (request, response) => {
    requests.push({ request, form: Object.fromEntries(new URLSearchParams(await bodyOf(request))) })
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
  })
  return { port, requests }
}

async function smsTrial(): Promise<ChannelTrial> {
  const { port, outcomes, received } = await httpProvider(400)
  const derived = { accountSid: 'AC123', authToken: 't0ken-of-the-account', from: '+15005550006' }
  return {
    channel: sms({ ...derived, baseUrl: `http://127.0.0.1:${port}` }),
    recipient: { id: 'u1', phone: '+436601234567' },
    unreachable: { id: 'u2', email: 'ada@example.test' },
    content: (word) => ({ text: `It is ${word}` }),
    outcomes,
    received: () => received,
    secrets: [derived.authToken, derived.accountSid, CHATTER],
  }
}

testChannel('sms', smsTrial, { idempotencyKey: false })

const derived = { accountSid: 'AC1', apiKey: { sid: 'SK1', secret: 'x' }, from: '+15005550006' }
testOptions('sallyport/channels/sms sms', 'SmsOptions', sms, derived, {
  accountSid: [...WORD, 'AC/x'],
  authToken: [...WORD, 'both'],
  apiKey: OBJECT,
  from: [...WORD, 'way too long a name'],
  messagingServiceSid: [...WORD, 'MG 7'],
  statusCallback: [...WORD, 'nonsense', 'http://sms.example', 'https://a.example/x?y'],
  baseUrl: [...WORD, 'nonsense', 'http://sms.example'],
  fetch: FUNCTION,
  maxSegments: outside(1, 255),
  retrySchedule: SCHEDULE,
  timeoutMs: TIMEOUT,
  clock: PART,
})
testOptions(
  'sallyport/channels/sms sms',
  'SmsOptions.apiKey',
  sms,
  derived,
  { sid: [...WORD, 'a b'], secret: WORD },
  { at: 'apiKey' },
)

test('sms posts a text in the form of the provider', async () => {
  const { port, requests } = await provider(201, { sid: 'SM42', status: 'queued' })
  const outcome = await channelTo(port).send(message(TO, { text: 'Ready & waiting: 100 % + ü' }), context())
  expect(outcome).toEqual({ outcome: 'sent', providerMessageId: 'SM42' })
  expect(requests).toHaveLength(1)
  expect(requests[0]?.form).toEqual({ To: TO, From: '+15005550006', Body: 'Ready & waiting: 100 % + ü' })
  expect(requests[0]?.request).toMatchObject({ method: 'POST', url: '/2010-04-01/Accounts/AC123/Messages.json' })
  expect(requests[0]?.request.headers).toMatchObject({
    'content-type': 'application/x-www-form-urlencoded;charset=UTF-8',
    authorization: `Basic ${Buffer.from('AC123:tökén').toString('base64')}`,
  })
})

test('sms accepts an API key and a messaging service in place of token and number', async () => {
  const { port, requests } = await provider(201, { sid: 'SM42' })
  const channel = sms({
    accountSid: 'AC123',
    apiKey: { sid: 'SK9', secret: 's3cret' },
    messagingServiceSid: 'MG7',
    baseUrl: `http://127.0.0.1:${port}`,
  })
  await channel.send(message(TO, { text: 'Hi' }), context())
  expect(requests[0]?.form).toEqual({ To: TO, MessagingServiceSid: 'MG7', Body: 'Hi' })
  expect(requests[0]?.request.headers.authorization).toBe(`Basic ${Buffer.from('SK9:s3cret').toString('base64')}`)
})

test('Control characters and bidirectional overrides do not reach the phone', async () => {
  const { port, requests } = await provider(201, {})
  const text = ' Code\u0000:\u001b[31m\t12\u202e34\u2066\r\nnext\u0085 line '
  await channelTo(port).send(message(TO, { text }), context())
  expect(requests[0]?.form.Body).toBe('Code:[31m 1234\nnext line')
})

test.each([
  ['too many segments', { text: 'a'.repeat(1_531) }, 'too_long'],
  ['an empty text', { text: '\u0000\u202e ' }, 'text_empty'],
  ['a number as the text', { text: 7 }, 'content_invalid'],
  ['no text', {}, 'content_invalid'],
])('sms rejects %s before a request', async (_what, content, code) => {
  const { port, requests } = await provider(201, {})
  expect(await channelTo(port).send(message(TO, content), context())).toEqual({
    outcome: 'rejected',
    code,
    by: 'channel',
  })
  expect(requests).toHaveLength(0)
})

test('sms composes accents, so that a text stays in the GSM alphabet', async () => {
  const { port, requests } = await provider(201, {})
  const channel = channelTo(port, { maxSegments: 1 })
  const text = 'e\u0301'.repeat(160)
  expect(await channel.send(message(TO, { text }), context())).toEqual({ outcome: 'sent' })
  expect(requests[0]?.form.Body).toBe('é'.repeat(160))
})

test('sms sends a text of exactly maxSegments', async () => {
  const { port } = await provider(201, {})
  const channel = channelTo(port, { maxSegments: 1 })
  expect(await channel.send(message(TO, { text: 'a'.repeat(160) }), context())).toEqual({ outcome: 'sent' })
  expect(await channel.send(message(TO, { text: 'a'.repeat(161) }), context())).toMatchObject({ code: 'too_long' })
})

const LATER = new Date(NOW + 60_000).toUTCString()
const NOW_DATE = new Date(NOW).toUTCString()

test.each<[string, number, unknown, Record<string, string>, SendOutcome]>([
  ['200', 200, { sid: 'SM1' }, {}, { outcome: 'sent', providerMessageId: 'SM1' }],
  ['201 that is no JSON', 201, '<html>', {}, { outcome: 'sent' }],
  ['201 of 1 MB', 201, `{"sid":"${'x'.repeat(1e6)}"}`, {}, { outcome: 'sent' }],
  ['400 with a code', 400, { code: 21408, message: 'x' }, {}, { outcome: 'rejected', code: 'twilio_21408' }],
  ['400 with a code that is text', 400, { code: 'evil text' }, {}, { outcome: 'rejected', code: 'http_400' }],
  ['400 without a body', 400, '', {}, { outcome: 'rejected', code: 'http_400' }],
  ['400 with null', 400, 'null', {}, { outcome: 'rejected', code: 'http_400' }],
  ['401', 401, { code: 20003 }, {}, { outcome: 'retry', code: 'provider_auth' }],
  ['403', 403, { code: 20005 }, {}, { outcome: 'retry', code: 'provider_auth' }],
  ['404', 404, { code: 20404 }, {}, { outcome: 'rejected', code: 'twilio_20404' }],
  ['429', 429, { code: 20429 }, {}, { outcome: 'retry', code: 'http_429' }],
  ['429 with seconds', 429, {}, { 'retry-after': '3' }, { outcome: 'retry', code: 'http_429', retryAfterMs: 3_000 }],
  [
    '429 with a date',
    429,
    {},
    { 'retry-after': LATER, date: NOW_DATE },
    { outcome: 'retry', code: 'http_429', retryAfterMs: 60_000 },
  ],
  ['503', 503, {}, { 'retry-after': '9' }, { outcome: 'retry', code: 'http_503', retryAfterMs: 9_000 }],
  [
    '403 with seconds',
    403,
    {},
    { 'retry-after': '9' },
    { outcome: 'retry', code: 'provider_auth', retryAfterMs: 9_000 },
  ],
  ['502 with seconds', 502, {}, { 'retry-after': '9' }, { outcome: 'unknown', code: 'http_502', retryAfterMs: 9_000 }],
  ['500, which may have been sent', 500, { code: 20500 }, {}, { outcome: 'unknown', code: 'http_500' }],
  ['504, which may have been sent', 504, '', {}, { outcome: 'unknown', code: 'http_504' }],
])('sms gives the right outcome for %s', async (_what, status, answer, headers, outcome) => {
  const { port } = await provider(status, answer, headers)
  expect(await channelTo(port, { clock: manualClock() }).send(message(TO, { text: 'Hi' }), context())).toEqual(outcome)
})

test('A redirect of the SMS provider does not get the credentials', async () => {
  const elsewhere = await provider(201, { sid: 'SM1' })
  const { port } = await provider(307, '', { location: `http://127.0.0.1:${elsewhere.port}/` })
  const outcome = await channelTo(port).send(message(TO, { text: 'Hi' }), context())
  expect(outcome).toEqual({ outcome: 'retry', code: 'http_307' })
  expect(elsewhere.requests).toHaveLength(0)
})

test('sms gives retry if no server listens', async () => {
  const outcome = await channelTo(await deadPort()).send(message(TO, { text: 'Hi' }), context())
  expect(outcome).toEqual({ outcome: 'retry', code: 'connection_failed' })
})

test('sms gives retry if no server listens at any address of a name', async () => {
  const baseUrl = `http://localhost:${await deadPort()}`
  const outcome = await sms({ ...ACCOUNT, baseUrl }).send(message(TO, { text: 'Hi' }), context())
  expect(outcome).toEqual({ outcome: 'retry', code: 'connection_failed' })
})

test('sms gives unknown if the connection breaks', async () => {
  const port = await tcpPeer((socket) => socket.once('data', () => socket.resetAndDestroy()))
  const outcome = await channelTo(port).send(message(TO, { text: 'Hi' }), context())
  expect(outcome).toEqual({ outcome: 'unknown', code: 'connection_lost' })
})

test('sms gives an error other than a lost connection as the cause', async () => {
  const thrown = new TypeError('the proxy was not set up')
  const request = async (): Promise<Response> => {
    throw thrown
  }
  const outcome = await channelTo(1, { fetch: request }).send(message(TO, { text: 'Hi' }), context())
  expect(outcome).toEqual({ outcome: 'unknown', code: 'connection_lost', cause: thrown })
})

test('A stalled SMS request ends at the time limit, or with the lease', async () => {
  const clock = manualClock()
  const lease = new AbortController()
  let stalled = () => clock.advance(15_000)
  const port = await httpPeer(() => stalled())
  const channel = channelTo(port, { clock })
  const text = { text: 'Hi' }
  expect(await channel.send(message(TO, text), context())).toEqual({ outcome: 'unknown', code: 'timeout' })
  stalled = () => lease.abort()
  expect(await channel.send(message(TO, text), context(lease.signal))).toEqual({ outcome: 'unknown', code: 'aborted' })
  expect(clock.pending()).toBe(0)
})

test('sms gives sent for a body that stalls after the status', async () => {
  const lease = new AbortController()
  const port = await httpPeer((_request, response) => {
    response.writeHead(201).write('{"sid":')
  })
  const request: NonNullable<SmsOptions['fetch']> = async (url, init) => {
    const response = await fetch(url, init)
    setImmediate(() => lease.abort())
    return response
  }
  const outcome = await channelTo(port, { fetch: request }).send(message(TO, { text: 'Hi' }), context(lease.signal))
  expect(outcome).toEqual({ outcome: 'sent' })
})

test('sms sends nothing after an abort', async () => {
  const { port, requests } = await provider(201, {})
  const outcome = await channelTo(port).send(message(TO, { text: 'Hi' }), context(AbortSignal.abort()))
  expect(outcome).toEqual({ outcome: 'retry', code: 'aborted' })
  expect(requests).toHaveLength(0)
})

test("The SMS channel returns the recipient's phone, and accepts only E.164 on send", async () => {
  const { port, requests } = await provider(201, {})
  const channel = channelTo(port)
  const of = (phone: string) => channel.address({ id: 'u1', phone })
  expect(of(TO)).toBe(TO)
  expect(channel.address({ id: 'u1' })).toBeUndefined()
  expect(of('')).toBeUndefined()
  for (const phone of ['0660123456', '+0123456789', '+12345', `+${'1'.repeat(16)}`, `${TO}\n`, `${TO},+15005550006`]) {
    expect(of(phone), phone).toBe(phone)
    const outcome = await channel.send(message(phone, { text: 'Hi' }), context())
    expect(outcome).toEqual({ outcome: 'rejected', code: 'address_invalid', by: 'channel' })
  }
  expect(requests).toHaveLength(0)
})

test('The SMS channel requires text and refuses other fields', () => {
  const { checkFields } = sms(ACCOUNT)
  expect(checkFields?.(['text'])).toEqual([])
  expect(checkFields?.(['text', 'subject'])).toEqual(['unknown field subject; the fields are: text'])
  expect(checkFields?.(['subject'])).toEqual(['needs text', 'unknown field subject; the fields are: text'])
  expect(checkFields?.([])).toEqual(['needs text'])
})

test('sms throws all option problems at once and quotes no value', () => {
  const make = () =>
    sms({
      accountSid: 'AC/../x',
      authToken: 'hunter2',
      apiKey: { sid: 'SK1', secret: '' },
      from: 'way too long a name',
      messagingServiceSid: 'MG 7',
      baseUrl: 'http://sms.example/?hunter2',
      maxSegments: 0,
      timeoutMs: 1.5,
      retrySchedule: [2, 1],
    })
  const fields = ['accountSid', 'apiKey.secret', 'from', 'messagingServiceSid', 'baseUrl', 'maxSegments']
  const problems = [...fields, 'retrySchedule[1]', 'timeoutMs', 'authToken', 'from'].map((field) =>
    expect.objectContaining({ field }),
  )
  expect(make).toThrowError(expect.objectContaining({ code: 'option_invalid', problems }))
  expect(make).not.toThrowError('hunter2')
})

test.each([
  { accountSid: 'AC1', from: '+15005550006' },
  { accountSid: 'AC1', authToken: 'x' },
  { accountSid: 'AC1', authToken: '', from: '+15005550006' },
  { ...ACCOUNT, baseUrl: 'nonsense' },
  { ...ACCOUNT, baseUrl: 'https://ada:secret@sms.example' },
])('sms refuses the incomplete options %o', (options) => {
  expect(() => sms(options)).toThrowError(expect.objectContaining({ code: 'option_invalid' }))
})
