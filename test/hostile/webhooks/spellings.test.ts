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

const FORBIDDEN = { outcome: 'rejected', code: 'address_forbidden' }

/** Allows all that can be allowed while the guard is on. */
const guarded = ({ ports }: Canary): WebhookOptions => ({ secret: SECRET, allowHttp: true, ports })
const sendTo = (channel: Channel, url: string) => channel.send(message(url, { data: DATA }), context())

/** The same host at every port of the canary, by both schemes: a TLS greeting is a connection as well. */
const urlsOf = (host: string, { ports }: Canary) =>
  ports.flatMap((port) => [`http://${host}:${port}/`, `https://${host}:${port}/`])

test('there are enough of them, and each once', () => {
  const urls = Object.values(URLS_INSIDE).flat()
  expect(new Set(hostsInside).size).toBe(hostsInside.length)
  expect(new Set(urls).size).toBe(urls.length)
  expect(hostsInside.length).toBeGreaterThan(200)
  expect(NAMES_INSIDE.length).toBeGreaterThan(30)
  expect(urls.length).toBeGreaterThan(90)
})

test.each(Object.entries(HOSTS_INSIDE))('%s: nobody is asked, and nothing is sent', async (_kind, hosts) => {
  const inside = await canary()
  const resolve = vi.fn(async () => [{ address: '127.0.0.1', family: 4 }])
  const channel = webhookChannel(guarded(inside), { resolve, ca: CERTIFICATE })
  for (const url of hosts.flatMap((host) => [...urlsOf(host, inside), `https://${host}/`, `http://${host}/`])) {
    expect(await sendTo(channel, url), url).toEqual(FORBIDDEN)
  }
  expect(resolve).not.toHaveBeenCalled()
  expect(inside.accepted()).toBe(0)
})

test.each(NAMES_INSIDE)('%s, which is %s: one is asked, and nothing is sent', async (name, address) => {
  const inside = await canary()
  const resolve = vi.fn(async () => [{ address, family: address.includes(':') ? 6 : 4 }])
  const channel = webhookChannel(guarded(inside), { resolve, ca: CERTIFICATE })
  const urls = urlsOf(name, inside)
  for (const url of urls) expect(await sendTo(channel, url), url).toEqual(FORBIDDEN)
  expect(resolve).toHaveBeenCalledTimes(urls.length)
  expect(inside.accepted()).toBe(0)
})

test.each(['localhost', 'LocalHost', 'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ'])('%s is refused for what this machine says of it', async (name) => {
  const inside = await canary()
  const channel = webhook(guarded(inside))
  for (const url of urlsOf(name, inside)) expect(await sendTo(channel, url), url).toEqual(FORBIDDEN)
  expect(inside.accepted()).toBe(0)
})

test.each(Object.keys(URLS_INSIDE))('%s: nobody is asked, and nothing is sent', async (kind) => {
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

test('http: is refused unless it was allowed, whatever the host is', async () => {
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

test.each(LOOPBACK)('%s reaches the canary when the guard is off: once at each port', async (host) => {
  const inside = await canary()
  const channel = webhook({ secret: SECRET, allowHttp: true, allowPrivateNetworks: true })
  for (const [count, port] of inside.http.entries()) {
    expect(await sendTo(channel, `http://${host}:${port}/`)).toEqual({ outcome: 'sent' })
    expect([inside.accepted(), inside.requests()]).toEqual([count + 1, count + 1])
  }
  // Connected, but the certificate is not for an address.
  const refused = { outcome: 'retry', code: 'connection_failed' }
  for (const port of inside.https) expect(await sendTo(channel, `https://${host}:${port}/`)).toEqual(refused)
  expect([inside.accepted(), inside.requests()]).toEqual([4, 2])
})

test.each(['127.0.0.1', '::1'])('by TLS too, for the name that is trusted, at %s', async (address) => {
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
})
