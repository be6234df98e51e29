import type { LookupAddress } from 'node:dns'
import { createServer } from 'node:http'
import { expect, test, vi } from 'vitest'
import { webhookChannel } from '../../../src/channels/webhook-channel.ts'
import type { Resolve } from '../../../src/channels/webhook-guard.ts'
import type { SendOutcome } from '../../../src/ports/channel.ts'
import { DATA, recordingPeer, SECRET } from '../../channels/events.ts'
import { context, message } from '../../channels/messages.ts'
import { deferred, listen, manualClock } from '../../channels/peers.ts'
import { canary } from './inside.ts'
import { outside } from './outside.ts'

const FORBIDDEN = { outcome: 'rejected', code: 'address_forbidden', by: 'channel' }
const UNREACHED = { outcome: 'retry', code: 'connection_failed' }
const SENT = { outcome: 'sent' }
const PUBLIC = '93.184.215.14'

const found = (...addresses: readonly string[]): LookupAddress[] =>
  addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))

/** Sends to one name at one port through the guard, with the given resolver. */
function guarded(port: number, resolve: Resolve, url = `http://hook.example:${port}/`): () => Promise<SendOutcome> {
  const channel = webhookChannel({ secret: SECRET, allowHttp: true, ports: [port] }, { resolve })
  return () => channel.send(message(url, { data: DATA }), context())
}

test('The webhook channel connects to the checked address, even if the name then resolves to another', async () => {
  const { connected } = await outside()
  const { port, received } = await recordingPeer()
  const resolve = vi.fn<Resolve>().mockResolvedValueOnce(found(PUBLIC)).mockResolvedValue(found('127.0.0.1'))
  expect(await guarded(port, resolve)()).toEqual(SENT)
  expect(resolve).toHaveBeenCalledOnce()
  expect(connected).toEqual([PUBLIC])
  expect(received).toHaveLength(1)
})

test('A rebound name is refused at the next delivery, despite an offered keep-alive', async () => {
  const { connected } = await outside()
  const port = await listen(
    createServer({ keepAlive: true }, (_request, response) => {
      response.writeHead(200, { connection: 'keep-alive', 'keep-alive': 'timeout=600' }).end('ok')
    }),
  )
  const resolve = vi.fn<Resolve>().mockResolvedValueOnce(found(PUBLIC)).mockResolvedValue(found('127.0.0.1'))
  const send = guarded(port, resolve)
  expect(await send()).toEqual(SENT)
  expect(await send()).toEqual(FORBIDDEN)
  expect(await send()).toEqual(FORBIDDEN)
  expect(resolve).toHaveBeenCalledTimes(3)
  expect(connected).toEqual([PUBLIC])
})

test('Every attempt resolves the name and connects anew', async () => {
  const { connected } = await outside()
  const { port } = await recordingPeer()
  const answers = [PUBLIC, '8.8.8.8', '2606:4700::1111', '::ffff:9.9.9.9']
  const resolve = vi.fn<Resolve>()
  for (const address of answers) resolve.mockResolvedValueOnce(found(address))
  const send = guarded(port, resolve)
  for (const _ of answers) expect(await send()).toEqual(SENT)
  expect(connected).toEqual(answers)
})

test.each([
  ['one public, one private', [PUBLIC, '10.0.0.1']],
  ['one private, one public', ['192.168.0.1', PUBLIC]],
  ['public by IPv6, private by IPv4', ['2606:4700::1111', '127.0.0.1']],
  ['public by IPv4, private by IPv6', [PUBLIC, '::1']],
  ['public by IPv4, unique-local by IPv6', [PUBLIC, 'fd00:ec2::254']],
  ['public, and wrapped loopback', [PUBLIC, '64:ff9b::7f00:1']],
  ['a thousand public ones and metadata', [...Array<string>(1_000).fill(PUBLIC), '169.254.169.254']],
  ['public, and no address', [PUBLIC, 'hook.example']],
  ['a public address and one in octal', [PUBLIC, '0177.0.0.1']],
  ['an empty address', ['']],
])('A DNS answer of %s is refused as a whole', async (_what, addresses) => {
  const { connected } = await outside()
  const { accepted, http } = await canary()
  expect(await guarded(http[0] ?? 0, async () => found(...addresses))()).toEqual(FORBIDDEN)
  expect(connected).toEqual([])
  expect(accepted()).toBe(0)
})

test('If a public address is unreachable, the next one of the answer is tried, and no other', async () => {
  const unreachable = ['2606:4700::1111', '2606:4700::1001']
  const { connected } = await outside(unreachable)
  const { port } = await recordingPeer()
  expect(await guarded(port, async () => found(...unreachable, PUBLIC, '8.8.8.8'))()).toEqual(SENT)
  expect(connected.at(-1)).toBe(PUBLIC)
  expect([...unreachable, PUBLIC]).toEqual(expect.arrayContaining([...connected]))
})

test('If no public address is reachable, nothing is sent and the name is not resolved again', async () => {
  const { connected } = await outside([PUBLIC, '2606:4700::1111'])
  const { port, received } = await recordingPeer()
  const resolve = vi
    .fn<Resolve>()
    .mockResolvedValueOnce(found('2606:4700::1111', PUBLIC))
    .mockResolvedValue(found('::1'))
  expect(await guarded(port, resolve)()).toEqual(UNREACHED)
  expect(resolve).toHaveBeenCalledOnce()
  expect(new Set(connected)).toEqual(new Set(['2606:4700::1111', PUBLIC]))
  expect(received).toEqual([])
})

test.each<[string, Resolve]>([
  ['an empty answer', async () => []],
  ['ENOTFOUND', async () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))],
  ['EAI_AGAIN', async () => Promise.reject(Object.assign(new Error('later'), { code: 'EAI_AGAIN' }))],
])('After %s the delivery is retried, and nothing is sent', async (_what, resolve) => {
  const { connected } = await outside()
  const { http } = await canary()
  expect(await guarded(http[0] ?? 0, resolve)()).toEqual(UNREACHED)
  expect(connected).toEqual([])
})

test('A DNS answer after the time limit opens no connection', async () => {
  const { connected } = await outside()
  const { port, received } = await recordingPeer()
  const clock = manualClock()
  const [asked, answer] = [deferred(), deferred<LookupAddress[]>()]
  const resolve: Resolve = () => {
    asked.resolve()
    return answer.promise
  }
  const channel = webhookChannel({ secret: SECRET, allowHttp: true, ports: [port], clock }, { resolve })
  const sending = channel.send(message(`http://hook.example:${port}/`, { data: DATA }), context())
  await asked.promise
  await new Promise(setImmediate)
  clock.advance(15_000)
  expect(await sending).toEqual(UNREACHED)
  answer.resolve(found(PUBLIC))
  await new Promise(setImmediate)
  expect(connected).toEqual([])
  expect(received).toEqual([])
})

test.each([
  ['https://example.com\\@127.0.0.1:443/', 'example.com'],
  ['https://example.com/@127.0.0.1/', 'example.com'],
  ['https://example.com?@127.0.0.1/', 'example.com'],
  ['https://example.com#@127.0.0.1/', 'example.com'],
  ['https://１.example。com/', '1.example.com'],
  ['https://1.1.1.1.example/', '1.1.1.1.example'],
])('For %j, the resolved host is the one connected to: %s', async (url, host) => {
  const { connected } = await outside([PUBLIC])
  const resolve = vi.fn<Resolve>(async () => found(PUBLIC))
  expect(await guarded(443, resolve, url)()).toEqual(UNREACHED)
  expect(resolve.mock.calls).toEqual([[host]])
  expect(connected).toEqual([PUBLIC])
})

test.each([
  ['8.8.8.8', '8.8.8.8'],
  ['134744072', '8.8.8.8'],
  ['[2606:4700::1111]', '2606:4700::1111'],
  ['[::ffff:808:808]', '::ffff:808:808'],
])('The public address %s is connected to without a look-up', async (host, address) => {
  const { connected } = await outside()
  const { port } = await recordingPeer()
  const resolve = vi.fn<Resolve>(async () => found('127.0.0.1'))
  expect(await guarded(port, resolve, `http://${host}:${port}/`)()).toEqual(SENT)
  expect(connected).toEqual([address])
  expect(resolve).not.toHaveBeenCalled()
})

const REDIRECTS = [300, 301, 302, 303, 305, 307, 308]
const TARGETS = [
  'http://127.0.0.1:PORT/',
  '//[::1]:PORT/',
  'http://localhost:PORT/',
  'http://169.254.169.254/',
  '/inside',
]

test.each(REDIRECTS.flatMap((status) => TARGETS.map((location) => [status, location] as const)))(
  'The redirect %i to %s is a failure and is not followed',
  async (status, location) => {
    const { connected } = await outside()
    const inside = await canary()
    const to = location.replace('PORT', `${inside.http[0]}`)
    let requests = 0
    const port = await listen(
      createServer((_request, response) => {
        requests += 1
        response.writeHead(status, { location: to, refresh: `0; url=${to}`, 'alt-svc': `h2="127.0.0.1:443"` }).end()
      }),
    )
    const resolve = vi.fn<Resolve>(async () => found(PUBLIC))
    expect(await guarded(port, resolve)()).toEqual({ outcome: 'retry', code: `http_${status}` })
    expect([requests, resolve.mock.calls.length, inside.accepted()]).toEqual([1, 1, 0])
    expect(connected).toEqual([PUBLIC])
  },
)
