import { type WebhookOptions, webhook } from 'sallyport/channels/webhook'
import { expect, test, vi } from 'vitest'
import { webhookChannel } from '../../../src/channels/webhook-channel.ts'
import type { Channel } from '../../../src/ports/channel.ts'
import { CERTIFICATE } from '../../channels/certificate.ts'
import { DATA, SECRET } from '../../channels/events.ts'
import { context, message } from '../../channels/messages.ts'
import type { Canary } from './canary.ts'
import { canary } from './inside.ts'
import { HOSTS_INSIDE, hostsInside, NAMES_INSIDE, URLS_INSIDE } from './spellings.ts'

const FORBIDDEN = { outcome: 'rejected', code: 'address_forbidden', by: 'channel' }

/** Options that allow everything except a disabled guard. */
const guarded = ({ ports }: Canary): WebhookOptions => ({ secret: SECRET, allowHttp: true, ports })
const sendTo = (channel: Channel, url: string) => channel.send(message(url, { data: DATA }), context())

/** The host at every port of the canary, by HTTP and HTTPS: a TLS handshake counts as a connection too. */
const urlsOf = (host: string, { ports }: Canary) =>
  ports.flatMap((port) => [`http://${host}:${port}/`, `https://${host}:${port}/`])

test('The lists of spellings are long and hold no duplicates', () => {
  const urls = Object.values(URLS_INSIDE).flat()
  expect(new Set(hostsInside).size).toBe(hostsInside.length)
  expect(new Set(urls).size).toBe(urls.length)
  expect(hostsInside.length).toBeGreaterThan(200)
  expect(NAMES_INSIDE.length).toBeGreaterThan(30)
  expect(urls.length).toBeGreaterThan(90)
})

test.each(Object.entries(HOSTS_INSIDE))(
  'Hosts of the kind "%s" are refused without a look-up',
  async (_kind, hosts) => {
    const inside = await canary()
    const resolve = vi.fn(async () => [{ address: '127.0.0.1', family: 4 }])
    const channel = webhookChannel(guarded(inside), { resolve, ca: CERTIFICATE })
    for (const url of hosts.flatMap((host) => [...urlsOf(host, inside), `https://${host}/`, `http://${host}/`])) {
      expect(await sendTo(channel, url), url).toEqual(FORBIDDEN)
    }
    expect(resolve).not.toHaveBeenCalled()
    expect(inside.accepted()).toBe(0)
  },
)

test.each(NAMES_INSIDE)(
  'The name %s, which resolves to %s, is refused after one look-up per send',
  async (name, address) => {
    const inside = await canary()
    const resolve = vi.fn(async () => [{ address, family: address.includes(':') ? 6 : 4 }])
    const channel = webhookChannel(guarded(inside), { resolve, ca: CERTIFICATE })
    const urls = urlsOf(name, inside)
    for (const url of urls) expect(await sendTo(channel, url), url).toEqual(FORBIDDEN)
    expect(resolve).toHaveBeenCalledTimes(urls.length)
    expect(inside.accepted()).toBe(0)
  },
)

test.each(['localhost', 'LocalHost', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ'])(
  'The name %s is refused for its addresses on this machine',
  async (name) => {
    const inside = await canary()
    const channel = webhook(guarded(inside))
    for (const url of urlsOf(name, inside)) expect(await sendTo(channel, url), url).toEqual(FORBIDDEN)
    expect(inside.accepted()).toBe(0)
  },
)

test.each(Object.keys(URLS_INSIDE))('URLs of the kind "%s" are refused without a look-up', async (kind) => {
  const inside = await canary()
  const resolve = vi.fn(async () => [{ address: '127.0.0.1', family: 4 }])
  const channel = webhookChannel(guarded(inside), { resolve, ca: CERTIFICATE })
  const templates = URLS_INSIDE[kind] ?? []
  for (const url of inside.ports.flatMap((port) => templates.map((text) => text.replaceAll('PORT', `${port}`)))) {
    expect(await sendTo(channel, url), JSON.stringify(url)).toEqual(FORBIDDEN)
  }
  expect(resolve).not.toHaveBeenCalled()
  expect(inside.accepted()).toBe(0)
})

test('A plain http: URL is refused unless allowed, for any host', async () => {
  const inside = await canary()
  const resolve = vi.fn(async () => [{ address: '127.0.0.1', family: 4 }])
  const channel = webhookChannel({ secret: SECRET, ports: [80, ...inside.ports] }, { resolve })
  for (const url of inside.ports.flatMap((port) => [`http://hook.example:${port}/`, `HTTP:hook.example:${port}`])) {
    expect(await sendTo(channel, url), url).toEqual(FORBIDDEN)
  }
  expect(await sendTo(channel, 'http://hook.example/')).toEqual(FORBIDDEN)
  expect(resolve).not.toHaveBeenCalled()
  expect(inside.accepted()).toBe(0)
})

const LOOPBACK = ['127.0.0.1', '127.1', '2130706433', '0x7f.1', '①②⑦.⓪.⓪.①', '[::1]', '[::ffff:7f00:1]', '[::]', '0']

test.each(LOOPBACK)('Without the guard, %s reaches the canary once at each port', async (host) => {
  const inside = await canary()
  const channel = webhook({ secret: SECRET, allowHttp: true, allowPrivateNetworks: true })
  for (const [count, port] of inside.http.entries()) {
    expect(await sendTo(channel, `http://${host}:${port}/`)).toEqual({ outcome: 'sent' })
    expect([inside.accepted(), inside.requests()]).toEqual([count + 1, count + 1])
  }
  // The connection opens, but the certificate is not for an address.
  const refused = { outcome: 'retry', code: 'connection_failed' }
  for (const port of inside.https) expect(await sendTo(channel, `https://${host}:${port}/`)).toEqual(refused)
  expect([inside.accepted(), inside.requests()]).toEqual([4, 2])
})

test.each(['127.0.0.1', '::1'])(
  'Without the guard, TLS reaches %s for the name of the certificate',
  async (address) => {
    const inside = await canary()
    const resolve = async () => [{ address, family: address.includes(':') ? 6 : 4 }]
    const options = { secret: SECRET, allowPrivateNetworks: true }
    const [port] = inside.https
    const url = `https://hook.example:${port}/`
    expect(await sendTo(webhookChannel(options, { resolve, ca: CERTIFICATE }), url)).toEqual({ outcome: 'sent' })
    expect([inside.accepted(), inside.requests()]).toEqual([1, 1])
    const watched = webhookChannel({ secret: SECRET, ports: inside.ports }, { resolve, ca: CERTIFICATE })
    expect(await sendTo(watched, url)).toEqual(FORBIDDEN)
    expect([inside.accepted(), inside.requests()]).toEqual([1, 1])
  },
)
