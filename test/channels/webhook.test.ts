import { createServer } from 'node:https'
import { webhook } from 'sallyport/channels/webhook'
import { Webhook } from 'standardwebhooks'
import { Webhook as SvixWebhook } from 'svix'
import { expect, onTestFinished, test, vi } from 'vitest'
import { webhookChannel } from '../../src/channels/webhook-channel.ts'
import { parseWebhookUrl } from '../../src/channels/webhook-guard.ts'
import { webhookTrial } from '../contract-tests/channel-trials.ts'
import { FLAG, HOLE, PART, SCHEDULE, TIMEOUT } from '../options/option-rows.ts'
import { testOptions } from '../options/option-tests.ts'
import { CERTIFICATE, KEY } from './certificate.ts'
import { testChannel } from './channel-tests.ts'
import { DATA, NEXT_SECRET, type Received, recordingPeer, SECRET, sendTo } from './events.ts'
import { context, message } from './messages.ts'
import { bodyOf, httpPeer, listen, manualClock, NOW } from './peers.ts'

testChannel('webhook', webhookTrial)
testOptions(
  'sallyport/channels/webhook webhook',
  'WebhookOptions',
  webhook,
  { secret: SECRET },
  {
    secret: [7, '', [], ['x'], HOLE, 'whsec_x', 'whsk_x', [SECRET, 'whpk_x']],
    allowHttp: FLAG,
    allowPrivateNetworks: FLAG,
    ports: [443, [0], [65_536], ['443'], HOLE],
    timeoutMs: TIMEOUT,
    retrySchedule: SCHEDULE,
    clock: PART,
  },
)

test('An event arrives in the form of Standard Webhooks', async () => {
  const { port, received } = await recordingPeer()
  expect(await sendTo(port)).toEqual({ outcome: 'sent' })
  expect(received[0]).toMatchObject({
    method: 'POST',
    url: '/hook?a=b',
    headers: {
      'content-type': 'application/json',
      'user-agent': 'sallyport',
      'webhook-id': 'dlv_1',
      connection: 'close',
    },
  })
  expect(JSON.parse(received[0]?.body ?? '')).toEqual({
    type: 'order.shipped',
    timestamp: '2026-11-21T07:59:00.000Z',
    data: DATA,
  })
})

test('The libraries of Standard Webhooks and Svix verify the signature', async () => {
  const { port, received } = await recordingPeer()
  await sendTo(port)
  const { body, headers } = received[0] as Received
  expect(new Webhook(SECRET).verify(body, headers)).toMatchObject({ type: 'order.shipped' })
  expect(new SvixWebhook(SECRET).verify(body, headers)).toMatchObject({ type: 'order.shipped' })
  expect(() => new Webhook(SECRET).verify(`${body} `, headers)).toThrow()
  expect(() => new Webhook(NEXT_SECRET).verify(body, headers)).toThrow()
})

test('A receiver can verify with either of two secrets', async () => {
  const { port, received } = await recordingPeer()
  await sendTo(port, { secret: [NEXT_SECRET, SECRET] })
  const { body, headers } = received[0] as Received
  for (const secret of [SECRET, NEXT_SECRET]) expect(new Webhook(secret).verify(body, headers)).toBeTruthy()
  expect(headers['webhook-signature']?.split(' ')).toHaveLength(2)
})

test('Every webhook attempt has the same id and body, and its own timestamp and signature', async () => {
  const { port, received } = await recordingPeer()
  const clock = manualClock()
  await sendTo(port, { clock })
  clock.advance(90_500)
  await sendTo(port, { clock })
  const [first, second] = received as [Received, Received]
  expect(second.body).toBe(first.body)
  expect(second.headers['webhook-id']).toBe(first.headers['webhook-id'])
  expect(first.headers['webhook-timestamp']).toBe(String(NOW / 1_000))
  expect(second.headers['webhook-timestamp']).toBe(String(NOW / 1_000 + 90))
  expect(second.headers['webhook-signature']).not.toBe(first.headers['webhook-signature'])
})

test('Content without data is sent as null', async () => {
  const { port, received } = await recordingPeer()
  const channel = webhook({ secret: SECRET, allowHttp: true, allowPrivateNetworks: true, ports: [port] })
  await channel.send(message(`http://127.0.0.1:${port}/`, {}), context())
  expect(JSON.parse(received[0]?.body ?? '').data).toBeNull()
})

test('webhook verifies TLS for the name, not for the resolved address', async () => {
  const bodies: string[] = []
  const server = createServer({ cert: CERTIFICATE, key: KEY }, async (request, response) => {
    bodies.push(await bodyOf(request))
    response.end()
  })
  const port = await listen(server)
  const options = { secret: SECRET, allowPrivateNetworks: true, ports: [port] }
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const trusting = webhookChannel(options, { resolve, ca: CERTIFICATE })
  const to = (host: string) => message(`https://${host}:${port}/`, { data: DATA })
  expect(await trusting.send(to('hook.example'), context())).toEqual({ outcome: 'sent' })
  const failed = { outcome: 'retry', code: 'connection_failed' }
  expect(await trusting.send(to('other.example'), context())).toEqual(failed)
  expect(await webhookChannel(options, { resolve }).send(to('hook.example'), context())).toEqual(failed)
  expect(bodies).toHaveLength(1)
})

test('webhook ignores proxy variables', async () => {
  const { port, received } = await recordingPeer()
  const proxy = await httpPeer((_request, response) => response.writeHead(502).end())
  for (const name of ['http_proxy', 'HTTP_PROXY', 'all_proxy']) vi.stubEnv(name, `http://127.0.0.1:${proxy}`)
  vi.stubEnv('NODE_USE_ENV_PROXY', '1')
  onTestFinished(() => void vi.unstubAllEnvs())
  expect(await sendTo(port)).toEqual({ outcome: 'sent' })
  expect(received).toHaveLength(1)
})

test("The webhook channel returns the recipient's URL", () => {
  const { address } = webhook({ secret: SECRET })
  expect(address({ id: 'u1', url: 'https://hook.example/a?b' })).toBe('https://hook.example/a?b')
  expect(address({ id: 'u1', url: '' })).toBeUndefined()
  expect(address({ id: 'u1' })).toBeUndefined()
})

test.each([
  'http://hook.example/',
  'https://user@hook.example/',
  'https://:secret@hook.example/',
  'https://hook.example:22/',
  'https://hook.example:80/',
  'ftp://hook.example/',
  'file:///etc/passwd',
  'javascript:alert(1)',
  '//hook.example/',
  'https://',
  'https://256.256.256.256/',
  'not a url',
])('webhook sends nothing to %s', async (url) => {
  const outcome = await webhook({ secret: SECRET, ports: [8443] }).send(message(url, { data: 1 }), context())
  expect(outcome).toEqual({ outcome: 'rejected', code: 'address_forbidden', by: 'channel' })
})

test.each([
  ['https://hook.example:443/', {}, true],
  ['https://hook.example:8443/', {}, false],
  ['https://hook.example:8443/', { ports: [8443] }, true],
  ['http://hook.example/', {}, false],
  ['http://hook.example/', { allowHttp: true }, true],
  ['http://hook.example:8080/', { allowHttp: true }, false],
  ['https://hook.example:8080/', { allowPrivateNetworks: true }, true],
])('parseWebhookUrl allows %s with %o: %s', (url, options, allowed) => {
  const reach = { allowHttp: false, allowPrivateNetworks: false, ports: [], ...options }
  expect(parseWebhookUrl(url, reach) !== undefined).toBe(allowed)
})

test('Endpoints of one origin have one concurrency key', () => {
  const key = (url: string) => webhook({ secret: SECRET }).concurrencyKey?.(url)
  expect(key('https://HOOKS.example:443/a?b=c')).toBe('https://hooks.example')
  expect(key('https://hooks.example/other')).toBe('https://hooks.example')
  expect(key('https://hooks.example:8443/a')).toBe('https://hooks.example:8443')
  expect(key('http://hooks.example/a')).toBe('http://hooks.example')
  expect(key('hooks.example')).toBe('')
})

test('The webhook channel accepts data or no field', () => {
  const { checkFields } = webhook({ secret: SECRET })
  expect(checkFields?.([])).toEqual([])
  expect(checkFields?.(['data'])).toEqual([])
  expect(checkFields?.(['data', 'body'])).toEqual(['unknown field body; the fields are: data'])
})

test('The default retry schedule of webhook is that of Standard Webhooks', () => {
  const minutes = (n: number) => n * 60_000
  expect(webhook({ secret: SECRET }).retrySchedule).toEqual(
    [5 / 60, 5, 30, 120, 300, 600, 840, 1_200, 1_440].map(minutes),
  )
  expect(webhook({ secret: SECRET, retrySchedule: [1] }).retrySchedule).toEqual([1])
})

test.each([
  'hunter2',
  '',
  'whsec_',
  `whsec_${Buffer.alloc(23).toString('base64')}`,
  `whsec_${Buffer.alloc(65).toString('base64')}`,
  `whsec_${Buffer.alloc(32).toString('base64')}!`,
  `${SECRET}\n`,
  [],
  [SECRET, 'hunter2'],
])('webhook refuses the secret %j without quoting it', (secret) => {
  const make = () => webhook({ secret, timeoutMs: 0, retrySchedule: [-1], ports: [70_000] })
  const fields = ['secret', 'ports[0]', 'timeoutMs', 'retrySchedule[0]'].map((field) =>
    expect.objectContaining({ field }),
  )
  expect(make).toThrowError(expect.objectContaining({ code: 'option_invalid', problems: fields }))
  expect(make).not.toThrowError('hunter2')
})
