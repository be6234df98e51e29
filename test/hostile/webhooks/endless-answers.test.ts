import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { ClientRequest } from 'node:http'
import { createServer, type Server, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { webhookChannel } from '../../../src/channels/webhook-channel.ts'
import type { SendOutcome } from '../../../src/ports/channel.ts'
import type { Clock } from '../../../src/ports/clock.ts'
import { CERTIFICATE, KEY } from '../../channels/certificate.ts'
import { DATA, SECRET } from '../../channels/events.ts'
import { context, message } from '../../channels/messages.ts'
import { deferred, listen, manualClock } from '../../channels/peers.ts'

const SENT: SendOutcome = { outcome: 'sent' }
const BROKEN: SendOutcome = { outcome: 'unknown', code: 'connection_reset' }

/** The limit, and the most that Node may read from a socket at once. */
const MOST_READ = 16 * 1024 + 64 * 1024

const OK = 'HTTP/1.1 200 OK\r\n'
const CHUNKED = `${OK}transfer-encoding: chunked\r\n\r\n`
const GZIP = `${OK}content-encoding: gzip\r\n`

/** Gives the socket of the latest request. */
function watchClient(): () => Socket {
  let request: ClientRequest | undefined
  const note = (event: unknown) => {
    request = (event as { readonly request: ClientRequest }).request
  }
  subscribe('http.client.request.start', note)
  onTestFinished(() => void unsubscribe('http.client.request.start', note))
  return () => {
    if (!request?.socket) throw new Error('no client has connected')
    return request.socket
  }
}

/** Sends to a server, with or without TLS, that replies with `answer`, and waits until the connection closes. */
async function sendTo(
  answer: (socket: Socket) => void,
  { secure = false, clock }: { readonly secure?: boolean; readonly clock?: Clock } = {},
): Promise<{ readonly outcome: SendOutcome; readonly bytesRead: number }> {
  const client = watchClient()
  const closed = deferred()
  const onSocket = (socket: Socket) => {
    socket.on('error', () => {}).on('close', () => closed.resolve())
    socket.once('data', () => answer(socket))
  }
  const server: Server = secure ? createTlsServer({ cert: CERTIFICATE, key: KEY }, onSocket) : createServer(onSocket)
  const port = await listen(server)
  const resolve = async () => [{ address: '127.0.0.1', family: 4 }]
  const options = { secret: SECRET, allowHttp: true, allowPrivateNetworks: true, ...(clock && { clock }) }
  const channel = webhookChannel(options, { resolve, ca: CERTIFICATE })
  const url = `${secure ? 'https' : 'http'}://hook.example:${port}/`
  const outcome = await channel.send(message(url, { data: DATA }), context())
  await closed.promise
  expect(client().destroyed).toBe(true)
  return { outcome, bytesRead: client().bytesRead }
}

/** Writes the head, then the same chunk repeatedly, as fast as possible. */
function endless(head: string | Buffer, again: string | Buffer): (socket: Socket) => void {
  const chunk = Buffer.concat(Array(100).fill(Buffer.from(again)))
  return (socket) => {
    const more = (): void => {
      while (!socket.destroyed && socket.write(chunk));
    }
    socket.on('drain', more).write(head)
    more()
  }
}

const BOMB = gzipSync(Buffer.alloc(64 * 1024 * 1024))
const BROTLI = brotliCompressSync(Buffer.alloc(1024 * 1024))

test.each<[string, string | Buffer, string | Buffer, SendOutcome]>([
  ['a body until the end of the connection', `${OK}\r\n`, 'x'.repeat(1_024), SENT],
  ['a body in chunks', CHUNKED, `400\r\n${'x'.repeat(1_024)}\r\n`, SENT],
  ['a body in chunks of one byte', CHUNKED, '1\r\nx\r\n', SENT],
  ['a length that is never reached', `${OK}content-length: 99999999999\r\n\r\n`, 'x'.repeat(1_024), SENT],
  ['a length that is exceeded', `${OK}content-length: 10\r\n\r\n`, 'x'.repeat(1_024), SENT],
  ['no length after 204', 'HTTP/1.1 204 No Content\r\n\r\n', 'x'.repeat(1_024), SENT],
  ['a length that is negative', `${OK}content-length: -1\r\n\r\n`, 'x', BROKEN],
  ['a length beyond the safe integers', `${OK}content-length: 99999999999999999999999\r\n\r\n`, 'x', BROKEN],
  ['two lengths', `${OK}content-length: 1\r\ncontent-length: 2\r\n\r\n`, 'x', BROKEN],
  ['a length and chunks', `${OK}content-length: 5\r\ntransfer-encoding: chunked\r\n\r\n`, '1\r\nx\r\n', BROKEN],
  ['gzip', `${GZIP}\r\n`, BOMB, SENT],
  [
    'gzip in chunks',
    `${GZIP}transfer-encoding: chunked\r\n\r\n`,
    Buffer.concat([hex(BOMB), BOMB, Buffer.from('\r\n')]),
    SENT,
  ],
  ['brotli', `${OK}content-encoding: br\r\n\r\n`, BROTLI, SENT],
  ['chunk extensions', CHUNKED, `1;${'x'.repeat(200)}\r\na\r\n`, SENT],
  ['one chunk extension', `${CHUNKED}1;`, 'x'.repeat(1_024), SENT],
  ['the length of one chunk', CHUNKED, '0'.repeat(1_024), SENT],
  ['trailers', `${CHUNKED}1\r\nx\r\n0\r\n`, 'x: y\r\n', SENT],
  ['headers', OK, 'x: y\r\n', BROKEN],
  ['one header', `${OK}x: `, 'y'.repeat(1_024), BROKEN],
  ['a reason', 'HTTP/1.1 200 ', 'y'.repeat(1_024), BROKEN],
  ['blank lines before the status', '', '\r\n', BROKEN],
  ['early hints', '', 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n', BROKEN],
  ['continue responses', '', 'HTTP/1.1 100 Continue\r\n\r\n', BROKEN],
  ['processing responses', '', 'HTTP/1.1 102 Processing\r\n\r\n', BROKEN],
  ['repeated responses', '', `${OK}content-length: 1\r\nconnection: keep-alive\r\n\r\nx`, SENT],
])('A response with endless data is read up to the limit and cut off: %s', async (_what, head, again, expected) => {
  for (const secure of [false, true]) {
    const { outcome, bytesRead } = await sendTo(endless(head, again), { secure })
    expect(outcome).toEqual(expected)
    expect(bytesRead).toBeLessThanOrEqual(MOST_READ)
  }
})

function hex({ length }: Buffer): Buffer {
  return Buffer.from(`${length.toString(16)}\r\n`)
}

test('A compressed response is not decompressed', async () => {
  const bomb = gzipSync(Buffer.alloc(10 * 1024 * 1024))
  expect(bomb.length).toBeLessThan(16 * 1024)
  const head = `${GZIP}content-length: ${bomb.length}\r\n\r\n`
  const { outcome, bytesRead } = await sendTo((socket) => void socket.end(Buffer.concat([Buffer.from(head), bomb])))
  expect(outcome).toEqual(SENT)
  expect(bytesRead).toBe(head.length + bomb.length)
})

test.each<[string, string, SendOutcome]>([
  ['no bytes', '', { outcome: 'unknown', code: 'timeout' }],
  ['half a status', 'HTTP/1.1 2', { outcome: 'unknown', code: 'timeout' }],
  ['half a header', `${OK}x: y`, { outcome: 'unknown', code: 'timeout' }],
  ['early hints', 'HTTP/1.1 103 Early Hints\r\n\r\n', { outcome: 'unknown', code: 'timeout' }],
  ['a blank line', '\r\n', { outcome: 'unknown', code: 'timeout' }],
])('Silence after %s is cut off at the time limit', async (_what, start, expected) => {
  for (const secure of [false, true]) {
    const clock = manualClock()
    const { outcome } = await sendTo(
      (socket) => {
        socket.write(start)
        clock.advance(14_999)
        expect([clock.pending(), socket.destroyed]).toEqual([1, false])
        clock.advance(1)
      },
      { secure, clock },
    )
    expect(outcome).toEqual(expected)
    expect(clock.pending()).toBe(0)
  }
})

test('Headers that trickle are cut off at the time limit', async () => {
  const clock = manualClock()
  const { outcome } = await sendTo(
    (socket) => {
      socket.write(OK)
      for (let second = 0; second < 15; second++) {
        socket.write(`x-${second}: y\r\n`)
        clock.advance(1_000)
      }
    },
    { clock },
  )
  expect(outcome).toEqual({ outcome: 'unknown', code: 'timeout' })
})

test('A TLS handshake that never ends is cut off, and nothing is sent', async () => {
  const clock = manualClock()
  const closed = deferred()
  const port = await listen(
    createServer((socket) => {
      socket.on('close', () => closed.resolve()).once('data', () => clock.advance(15_000))
    }),
  )
  const channel = webhookChannel({ secret: SECRET, allowPrivateNetworks: true, clock })
  const sending = channel.send(message(`https://127.0.0.1:${port}/`, { data: DATA }), context())
  expect(await sending).toEqual({ outcome: 'retry', code: 'connection_failed' })
  await closed.promise
})

test('The status of a response counts, even if its body trickles until the time limit', async () => {
  const clock = manualClock()
  const answered = () => setImmediate(() => clock.advance(15_000))
  subscribe('http.client.response.finish', answered)
  onTestFinished(() => void unsubscribe('http.client.response.finish', answered))
  const { outcome } = await sendTo((socket) => socket.write(`${CHUNKED}1\r\nx\r\n`), { clock })
  expect(outcome).toEqual(SENT)
})
