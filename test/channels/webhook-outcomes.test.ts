import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { expect, onTestFinished, test } from 'vitest'
import { webhookChannel } from '../../src/channels/webhook-channel.ts'
import type { SendOutcome } from '../../src/ports/channel.ts'
import { DATA, recordingPeer, SECRET, sendTo } from './events.ts'
import { context, message } from './messages.ts'
import { deadPort, deferred, httpPeer, manualClock, NOW, tcpPeer } from './peers.ts'

const LATER = new Date(NOW + 120_000).toUTCString()
const NOW_DATE = new Date(NOW).toUTCString()

test.each<[number, Record<string, string>, SendOutcome]>([
  [200, {}, { outcome: 'sent' }],
  [202, {}, { outcome: 'sent' }],
  [204, {}, { outcome: 'sent' }],
  [301, { location: '/elsewhere' }, { outcome: 'retry', code: 'http_301' }],
  [304, {}, { outcome: 'retry', code: 'http_304' }],
  [308, { location: 'http://127.0.0.1/' }, { outcome: 'retry', code: 'http_308' }],
  [400, {}, { outcome: 'retry', code: 'http_400' }],
  [404, {}, { outcome: 'retry', code: 'http_404' }],
  [410, { 'retry-after': '5' }, { outcome: 'rejected', code: 'http_410' }],
  [429, {}, { outcome: 'retry', code: 'http_429' }],
  [429, { 'retry-after': '30' }, { outcome: 'retry', code: 'http_429', retryAfterMs: 30_000 }],
  [429, { 'retry-after': LATER, date: NOW_DATE }, { outcome: 'retry', code: 'http_429', retryAfterMs: 120_000 }],
  [429, { 'retry-after': '9999999999' }, { outcome: 'retry', code: 'http_429', retryAfterMs: 9_999_999_999_000 }],
  [429, { 'retry-after': '-5' }, { outcome: 'retry', code: 'http_429' }],
  [429, { 'retry-after': 'soon' }, { outcome: 'retry', code: 'http_429' }],
  [500, {}, { outcome: 'retry', code: 'http_500' }],
  [502, {}, { outcome: 'retry', code: 'http_502' }],
  [503, { 'retry-after': '7' }, { outcome: 'retry', code: 'http_503', retryAfterMs: 7_000 }],
])('The status %i with %o gives the right outcome', async (status, headers, outcome) => {
  let requests = 0
  const port = await httpPeer((request, response) => {
    requests += 1
    request.resume()
    response.writeHead(status, headers).end()
  })
  expect(await sendTo(port, { clock: manualClock() })).toEqual(outcome)
  expect(requests).toBe(1)
})

test('webhook gives retry if no server listens', async () => {
  expect(await sendTo(await deadPort())).toEqual({ outcome: 'retry', code: 'connection_failed' })
})

test('webhook gives unknown if the connection resets after the request', async () => {
  const port = await httpPeer((request) => request.resume().on('end', () => request.socket.resetAndDestroy()))
  expect(await sendTo(port)).toEqual({ outcome: 'unknown', code: 'connection_reset' })
})

test.each([
  ['garbage', 'SSH-2.0-OpenSSH_9.2\r\n'],
  ['an endless head', `HTTP/1.1 200 OK\r\nx: ${'y'.repeat(40_000)}\r\n`],
  ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n'],
])('webhook gives unknown if the receiver answers with %s', async (_what, answer) => {
  const port = await tcpPeer((socket) => socket.once('data', () => socket.write(answer)))
  expect(await sendTo(port)).toEqual({ outcome: 'unknown', code: 'connection_reset' })
})

test('A response that trickles without end is cut off at the time limit', async () => {
  const clock = manualClock()
  const port = await tcpPeer((socket) =>
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nx')
      clock.advance(14_999)
      expect(clock.pending()).toBe(1)
      clock.advance(1)
    }),
  )
  expect(await sendTo(port, { clock })).toEqual({ outcome: 'unknown', code: 'timeout' })
})

test('webhook gives retry if the host name takes too long to resolve', async () => {
  const clock = manualClock()
  const resolving = deferred()
  const resolve = () => {
    resolving.resolve()
    return new Promise<never>(() => {})
  }
  const channel = webhookChannel({ secret: SECRET, timeoutMs: 2_000, clock }, { resolve })
  const sending = channel.send(message('https://hook.example/', { data: DATA }), context())
  await resolving.promise
  clock.advance(2_000)
  expect(await sending).toEqual({ outcome: 'retry', code: 'connection_failed' })
})

test('A body that trickles after the status is cut off at the time limit, and the status counts', async () => {
  const clock = manualClock()
  const closed = deferred()
  const answered = () => setImmediate(() => clock.advance(15_000))
  subscribe('http.client.response.finish', answered)
  onTestFinished(() => void unsubscribe('http.client.response.finish', answered))
  const port = await httpPeer((_request, response) => {
    response.on('close', closed.resolve)
    response.writeHead(200).write('x')
  })
  expect(await sendTo(port, { clock })).toEqual({ outcome: 'sent' })
  await closed.promise
})

test('webhook reads at most 16 KiB of a response', async () => {
  let written = 0
  const closed = deferred()
  const port = await httpPeer((_request, response) => {
    response.writeHead(200)
    response.on('close', closed.resolve)
    const chunk = Buffer.alloc(64 * 1024)
    const more = () => {
      while (!response.destroyed && response.write(chunk)) written += chunk.length
      written += chunk.length
    }
    response.on('drain', more)
    more()
  })
  expect(await sendTo(port)).toEqual({ outcome: 'sent' })
  await closed.promise
  // The sockets' buffers on both sides may hold this much unread data.
  expect(written).toBeLessThan(16 * 1024 * 1024)
})

test('webhook gives retry for an abort before the request, and unknown after it', async () => {
  const lease = new AbortController()
  const port = await httpPeer(() => lease.abort())
  expect(await sendTo(port, {}, AbortSignal.abort())).toEqual({ outcome: 'retry', code: 'aborted' })
  expect(await sendTo(port, {}, lease.signal)).toEqual({ outcome: 'unknown', code: 'aborted' })
})

test('A webhook attempt leaves no timer', async () => {
  const clock = manualClock()
  const { port } = await recordingPeer()
  await sendTo(port, { clock })
  expect(clock.pending()).toBe(0)
})
