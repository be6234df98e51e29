import type { LookupAddress } from 'node:dns'
import { createServer } from 'node:http'
import { expect, test, vi } from 'vitest'
import { webhookChannel } from '../../src/channels/webhook-channel.ts'
import { guardedLookup, isPublicAddress } from '../../src/channels/webhook-guard.ts'
import { context, message } from './messages.ts'
import { listen } from './peers.ts'

const SECRET = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
const FORBIDDEN = { outcome: 'rejected', code: 'address_forbidden', by: 'channel' }
const GUARDED = { allowHttp: false, allowPrivateNetworks: false, ports: [] }

/** A server on both loopback addresses that no request may reach. */
async function canary(): Promise<{ port: number; hits: () => number }> {
  let hits = 0
  const server = createServer((_request, response) => {
    hits += 1
    response.end()
  })
  server.on('connection', () => {
    hits += 1
  })
  return { port: await listen(server, '::'), hits: () => hits }
}

const SPELLINGS = [
  '127.0.0.1',
  '127.0.0.1.',
  '127.1',
  '127.0.1',
  '127.255.255.254',
  '2130706433',
  '0x7f000001',
  '0x7f.1',
  '0x7f.0x0.0x0.0x1',
  '0177.0.0.1',
  '017700000001',
  '0300.0250.1',
  '%31%32%37.0.0.1',
  '１２７.０.０.１',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  '127.0.0.1\t',
  '0',
  '0.0.0.0',
  '0x0',
  '00000',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[0000:0000:0000:0000:0000:0000:0000:0001]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[0:0:0:0:0:ffff:127.0.0.1]',
  '[::127.0.0.1]',
  '[::7f00:1]',
  '[::8.8.8.8]',
  '[::ffff:0:127.0.0.1]',
  '[64:ff9b::127.0.0.1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::7f00:1]',
  '[2002:7f00:1::]',
  '[2002:a9fe:a9fe::1]',
  '[2001:0:7f00:1::]',
  '[2001:db8::1]',
  '[fe80::1]',
  '[fec0::1]',
  '[fc00::1]',
  '[fd00:ec2::254]',
  '[fd12:3456:789a::1]',
  '[ff02::1]',
  '[100::1]',
  '[100:0:0:1::1]',
  '[3fff::1]',
  '[4000::1]',
  '[5f00::1]',
  '10.0.0.1',
  '10.255.255.255',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '0251.0376.0251.0376',
  '[::ffff:169.254.169.254]',
  '[::ffff:a9fe:a9fe]',
  '100.64.0.1',
  '100.100.100.200',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
]

test(`All ${SPELLINGS.length} spellings of special addresses are refused`, async () => {
  const { port, hits } = await canary()
  const resolve = vi.fn(async () => [{ address: '127.0.0.1', family: 4 }])
  const channel = webhookChannel({ secret: SECRET, allowHttp: true, ports: [port] }, { resolve })
  for (const host of SPELLINGS) {
    for (const scheme of ['http', 'https']) {
      const outcome = await channel.send(message(`${scheme}://${host}:${port}/`, { data: 1 }), context())
      expect(outcome, host).toEqual(FORBIDDEN)
    }
  }
  expect(hits()).toBe(0)
  expect(resolve).not.toHaveBeenCalled()
})

test('Requests reach the canary when the guard is off', async () => {
  const { port, hits } = await canary()
  const channel = webhookChannel({ secret: SECRET, allowHttp: true, ports: [port], allowPrivateNetworks: true })
  for (const host of ['127.1', '[::1]', '[::ffff:7f00:1]']) {
    expect(await channel.send(message(`http://${host}:${port}/`, { data: 1 }), context())).toEqual({ outcome: 'sent' })
  }
  expect(hits()).toBe(6)
})

test.each([
  ['loopback', ['127.0.0.1']],
  ['loopback by IPv6', ['::1']],
  ['mapped loopback', ['::ffff:127.0.0.1']],
  ['metadata', ['169.254.169.254']],
  ['the public and the private', ['8.8.8.8', '127.0.0.1']],
  ['the private and the public', ['127.0.0.1', '8.8.8.8']],
  ['both families, one of them private', ['8.8.8.8', 'fe80::1%eth0']],
  ['an invalid address', ['nonsense']],
])('webhook refuses a name that resolves to %s', async (_what, addresses) => {
  const { port, hits } = await canary()
  const resolve = async () => addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  const channel = webhookChannel({ secret: SECRET, allowHttp: true, ports: [port] }, { resolve })
  expect(await channel.send(message(`http://hook.example:${port}/`, { data: 1 }), context())).toEqual(FORBIDDEN)
  expect(hits()).toBe(0)
})

test('webhook refuses localhost by its addresses', async () => {
  const { port, hits } = await canary()
  const channel = webhookChannel({ secret: SECRET, allowHttp: true, ports: [port] })
  expect(await channel.send(message(`http://localhost:${port}/`, { data: 1 }), context())).toEqual(FORBIDDEN)
  expect(hits()).toBe(0)
})

test('A webhook name is resolved once, and the connection goes to the checked address', async () => {
  const { port, hits } = await canary()
  const resolve = vi
    .fn<() => Promise<LookupAddress[]>>()
    .mockResolvedValueOnce([{ address: '127.0.0.1', family: 4 }])
    .mockRejectedValue(new Error('asked twice'))
  const options = { secret: SECRET, allowHttp: true, allowPrivateNetworks: true, ports: [port] }
  const channel = webhookChannel(options, { resolve })
  expect(await channel.send(message(`http://hook.example:${port}/`, { data: 1 }), context())).toEqual({
    outcome: 'sent',
  })
  expect(resolve).toHaveBeenCalledOnce()
  expect(hits()).toBe(2)
})

test('A webhook name is checked at each attempt, against DNS rebinding', async () => {
  const answers = [[{ address: '93.184.215.14', family: 4 }], [{ address: '127.0.0.1', family: 4 }]]
  const lookup = guardedLookup(async () => answers.shift() ?? [], GUARDED)
  const lookUp = () =>
    new Promise((resolve) => lookup('hook.example', { all: true }, (error, found) => resolve(error?.name ?? found)))
  expect(await lookUp()).toEqual([{ address: '93.184.215.14', family: 4 }])
  expect(await lookUp()).toBe('AddressForbidden')
})

test('The lookup answers in the requested form', async () => {
  const lookup = guardedLookup(async () => [{ address: '2606:4700::1111', family: 6 }], GUARDED)
  const one = await new Promise((resolve) => lookup('x.example', {}, (...answer) => resolve(answer)))
  expect(one).toEqual([null, '2606:4700::1111', 6])
})

test.each([
  ['has no address', async () => []],
  ['cannot be resolved', async () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' }))],
])('A webhook delivery to a name that %s is retried', async (_what, resolve) => {
  const channel = webhookChannel({ secret: SECRET }, { resolve })
  const outcome = await channel.send(message('https://hook.example/', { data: 1 }), context())
  expect(outcome).toEqual({ outcome: 'retry', code: 'connection_failed' })
})

test.each([
  'http://hook.example/',
  'https://ada:secret@hook.example/',
  'https://hook.example:22/',
  'gopher://hook.example/',
  'hook',
])('webhook refuses %s, stored under other options, when it sends', async (url) => {
  const resolve = vi.fn(async () => [])
  const channel = webhookChannel({ secret: SECRET }, { resolve })
  expect(await channel.send(message(url, { data: 1 }), context())).toEqual(FORBIDDEN)
  expect(resolve).not.toHaveBeenCalled()
})

test('A redirect to a private address is not followed', async () => {
  const { port, hits } = await canary()
  const redirecting = await listen(
    createServer((_request, response) => response.writeHead(307, { location: `http://127.0.0.1:${port}/` }).end()),
  )
  const options = { secret: SECRET, allowHttp: true, allowPrivateNetworks: true, ports: [redirecting, port] }
  const outcome = await webhookChannel(options).send(
    message(`http://127.0.0.1:${redirecting}/`, { data: 1 }),
    context(),
  )
  expect(outcome).toEqual({ outcome: 'retry', code: 'http_307' })
  expect(hits()).toBe(0)
})

test.each(['8.8.8.8', '93.184.215.14', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '::ffff:8.8.8.8'])(
  'The address %s is public',
  (address) => {
    expect(isPublicAddress(address)).toBe(true)
  },
)
