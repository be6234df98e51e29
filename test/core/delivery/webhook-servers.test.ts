import type { RequestListener } from 'node:http'
import { webhook } from 'sallyport/channels/webhook'
import { expect, test } from 'vitest'
import { SECRET } from '../../channels/events.ts'
import { bodyOf, httpPeer, tcpPeer } from '../../channels/peers.ts'
import { fakeClock } from '../../support/fake-clock.ts'
import { ended, type ServerApp, serverApp, shown, waitOf } from './real-servers.ts'

/** The first two steps of the schedule. */
const [STEP, NEXT] = [5_000, 300_000]

function appAt(port: number): Promise<ServerApp> {
  return serverApp({ url: `http://127.0.0.1:${port}/hook` }, (clock) =>
    webhook({ secret: SECRET, allowHttp: true, allowPrivateNetworks: true, clock }),
  )
}

/** A server with answers in order; the last one repeats. */
async function endpoint(
  ...answers: readonly RequestListener[]
): Promise<{ port: number; ids: unknown[]; paths: unknown[] }> {
  const ids: unknown[] = []
  const paths: unknown[] = []
  const port = await httpPeer(async (request, response) => {
    ids.push(request.headers['webhook-id'])
    paths.push(request.url)
    await bodyOf(request)
    const answer = answers[Math.min(ids.length, answers.length) - 1]
    answer?.(request, response)
  })
  return { port, ids, paths }
}

const status =
  (code: number, headers: Record<string, string> = {}): RequestListener =>
  (_request, response) =>
    void response.writeHead(code, headers).end('so it is')

test.each([200, 204])('An HTTP status of %i marks the delivery as sent', async (code) => {
  const { port, ids } = await endpoint(status(code))
  const { clock, worker, delivery } = await appAt(port)
  expect(await worker.runDue()).toMatchObject({ attempted: 1, sent: 1 })
  const { deliveryId } = await delivery()
  expect(shown(await delivery())).toBe('sent 1 (1 sent)')
  expect(ids).toEqual([deliveryId])
  expect(clock.timers).toBe(0)
})

test('HTTP status 410 is never retried', async () => {
  const { port, ids } = await endpoint(status(410))
  const { clock, worker, delivery } = await appAt(port)
  await worker.runDue()
  expect(shown(await delivery())).toBe('failed provider_rejected http_410 1 (1 rejected http_410)')
  clock.advance(80 * 3_600_000)
  await worker.runDue()
  expect(ids).toHaveLength(1)
})

test('HTTP status 301 is retried at the same URL, and the redirect is not followed', async () => {
  const { port, paths } = await endpoint(status(301, { location: '/elsewhere' }), status(200))
  const { worker, delivery, tryAgain } = await appAt(port)
  await worker.runDue()
  expect(shown(await delivery())).toBe('queued http_301 1 (1 retry http_301)')
  expect(shown(await tryAgain(0.8 * STEP, 1.2 * STEP))).toBe('sent http_301 2 (1 retry http_301, 2 sent)')
  expect(paths).toEqual(['/hook', '/hook'])
})

const inSeconds = (seconds: number): string => new Date(fakeClock().now() + seconds * 1_000).toUTCString()

test.each<[string, Record<string, string>, number, number]>([
  ['nothing', {}, 0.8 * STEP, 1.2 * STEP],
  ['seconds', { 'retry-after': '7' }, 7_000, 7_000 + 0.4 * STEP],
  ['fewer seconds than the schedule has', { 'retry-after': '1' }, 0.8 * STEP, 1.2 * STEP],
  ['zero seconds', { 'retry-after': '0' }, 0.8 * STEP, 1.2 * STEP],
  ['a day', { 'retry-after': '86400' }, 86_400_000, 86_400_000 + 0.4 * STEP],
  ['an HTTP date', { 'retry-after': inSeconds(8), date: inSeconds(0) }, 8_000, 8_000 + 0.4 * STEP],
  [
    'an HTTP date of another clock',
    { 'retry-after': inSeconds(8), date: inSeconds(-3_600) },
    3_608_000,
    3_608_000 + 0.4 * STEP,
  ],
  ['an HTTP date that has passed', { 'retry-after': inSeconds(-8), date: inSeconds(0) }, 0.8 * STEP, 1.2 * STEP],
  ['negative seconds', { 'retry-after': '-7' }, 0.8 * STEP, 1.2 * STEP],
  ['words', { 'retry-after': 'in a while' }, 0.8 * STEP, 1.2 * STEP],
])('HTTP status 429 with %s in Retry-After is retried in time', async (_what, headers, least, most) => {
  const { port, ids } = await endpoint(status(429, headers), status(503), status(200))
  const { worker, delivery, tryAgain } = await appAt(port)
  await worker.runDue()
  expect(shown(await delivery())).toBe('queued http_429 1 (1 retry http_429)')
  expect(shown(await tryAgain(least, most))).toBe('queued http_503 2 (1 retry http_429, 2 retry http_503)')
  const log = '(1 retry http_429, 2 retry http_503, 3 sent)'
  expect(shown(await tryAgain(0.8 * NEXT, 1.2 * NEXT))).toBe(`sent http_503 3 ${log}`)
  expect(new Set(ids).size).toBe(1)
})

test.each<[string, Record<string, string>]>([
  ['an absurd number of seconds', { 'retry-after': '9'.repeat(100) }],
  ['a year', { 'retry-after': String(366 * 86_400) }],
  ['an HTTP date of next year', { 'retry-after': inSeconds(366 * 86_400), date: inSeconds(0) }],
])('HTTP status 429 with %s in Retry-After, past the expiry, fails at once', async (_what, headers) => {
  const { port, ids } = await endpoint(status(429, headers), status(200))
  const { worker, delivery } = await appAt(port)
  expect(await worker.runDue()).toMatchObject({ attempted: 1, failed: 1 })
  expect(shown(await delivery())).toBe('failed attempts_exhausted http_429 1 (1 retry http_429)')
  expect(ids).toHaveLength(1)
})

test('HTTP status 500 is retried', async () => {
  const { port } = await endpoint(status(500), status(200))
  const { worker, delivery, tryAgain } = await appAt(port)
  await worker.runDue()
  expect(shown(await delivery())).toBe('queued http_500 1 (1 retry http_500)')
  expect(shown(await tryAgain(0.8 * STEP, 1.2 * STEP))).toBe('sent http_500 2 (1 retry http_500, 2 sent)')
})

test('A connection that is reset has the outcome unknown and is retried', async () => {
  const { port, ids } = await endpoint((request) => void request.socket.resetAndDestroy(), status(200))
  const { worker, delivery, tryAgain } = await appAt(port)
  await worker.runDue()
  expect(shown(await delivery())).toBe('queued connection_reset 1 (1 unknown connection_reset)')
  expect(shown(await tryAgain(0.8 * STEP, 1.2 * STEP))).toBe(
    'sent connection_reset 2 (1 unknown connection_reset, 2 sent)',
  )
  expect(new Set(ids).size).toBe(1)
})

test('A response that dribbles is aborted at the time-out of the channel, with the outcome unknown', async () => {
  const port = await tcpPeer((socket) =>
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nx-dribble: ')
      own.clock.advance(15_000)
    }),
  )
  const own = await appAt(port)
  await ended(own.worker.runDue(), own.clock)
  const found = await own.delivery()
  expect(shown(found)).toBe('queued timeout 1 (1 unknown timeout)')
  const { startedAt = '', endedAt = '' } = found.attemptLog?.[0] ?? {}
  expect(Date.parse(endedAt) - Date.parse(startedAt)).toBe(15_000)
  expect(waitOf(found, own.clock)).toBeGreaterThanOrEqual(0.8 * STEP)
  expect(own.clock.timers).toBe(0)
})

test('A private address is rejected before any request', async () => {
  const { port, ids } = await endpoint(status(200))
  const { worker, delivery } = await serverApp({ url: `http://127.0.0.1:${port}/hook` }, (clock) =>
    webhook({ secret: SECRET, allowHttp: true, ports: [port], clock }),
  )
  await worker.runDue()
  expect(shown(await delivery())).toBe('failed channel_rejected address_forbidden 1 (1 rejected address_forbidden)')
  expect(ids).toEqual([])
})
