import type { Socket } from 'node:net'
import type { Channel } from 'sallyport'
import { email } from 'sallyport/channels/email'
import type { SMTPServerOptions } from 'smtp-server'
import { expect, test } from 'vitest'
import { afterData, inbox, transportTo, watchClient } from '../../channels/letters.ts'
import { refusal, tcpPeer } from '../../channels/peers.ts'
import { ended, type ServerApp, serverApp, shown } from './real-servers.ts'

const STEPS = [1, 5, 15, 45, 120, 240, 480, 900].map((seconds) => seconds * 1_000)

function channelAt(port: number): Channel {
  return email(transportTo(port), { from: 'shop@example.com' })
}

function appAt(port: number): Promise<ServerApp> {
  return serverApp({ email: 'ada@example.test' }, () => channelAt(port))
}

/** The Message-IDs of messages. */
const idsOf = (letters: readonly Buffer[]): readonly (string | undefined)[] =>
  letters.map((letter) => /^Message-ID: (.*)$/im.exec(letter.toString())?.[1])

test('A message that the server accepts is sent', async () => {
  const { port, letters, recipients } = await inbox()
  const { worker, delivery } = await appAt(port)
  expect(await worker.runDue()).toMatchObject({ attempted: 1, sent: 1 })
  const { deliveryId, providerMessageId } = await delivery()
  expect(shown(await delivery())).toBe('sent 1 (1 sent)')
  expect(providerMessageId).toBe(`<${deliveryId}@example.com>`)
  expect([recipients, idsOf(letters)]).toEqual([['ada@example.test'], [providerMessageId]])
})

test('A message that the server defers is retried until it is accepted once', async () => {
  let asked = 0
  const { port, letters } = await inbox({ onRcptTo: (_a, _s, done) => (++asked < 3 ? done(refusal(451)) : done()) })
  const { worker, delivery, tryAgain } = await appAt(port)
  expect(await worker.runDue()).toMatchObject({ attempted: 1, retried: 1 })
  expect(shown(await delivery())).toBe('queued smtp_451 1 (1 retry smtp_451)')
  expect(shown(await tryAgain(800, 1_200))).toBe('queued smtp_451 2 (1 retry smtp_451, 2 retry smtp_451)')
  expect(shown(await tryAgain(4_000, 6_000))).toBe('sent smtp_451 3 (1 retry smtp_451, 2 retry smtp_451, 3 sent)')
  expect(letters).toHaveLength(1)
})

test('A message that the server always defers gets every attempt of the schedule and no more', async () => {
  let asked = 0
  const { port } = await inbox({
    onRcptTo(_address, _session, done) {
      asked++
      done(refusal(451))
    },
  })
  const { clock, worker, delivery, tryAgain } = await appAt(port)
  await worker.runDue()
  for (const step of STEPS) await tryAgain(0.8 * step, 1.2 * step)
  const { status, reason, attempts, nextAttemptAt } = await delivery()
  expect({ status, reason, attempts }).toEqual({ status: 'failed', reason: 'attempts_exhausted', attempts: 9 })
  expect(nextAttemptAt).toBeUndefined()
  clock.advance(80 * 3_600_000)
  await worker.runDue()
  expect(asked).toBe(9)
})

test.each([
  ['the recipient', { onRcptTo: (_a, _s, done) => done(refusal(550)) }],
  ['the message', { onData: (m, _s, done) => m.resume().on('end', () => done(refusal(550))) }],
] satisfies [string, SMTPServerOptions][])(
  'A delivery is not retried when the server rejects %s',
  async (_what, options) => {
    const { port } = await inbox(options)
    const { clock, worker, delivery } = await appAt(port)
    expect(await worker.runDue()).toMatchObject({ attempted: 1, failed: 1 })
    expect(shown(await delivery())).toBe('failed provider_rejected smtp_550 1 (1 rejected smtp_550)')
    clock.advance(3_600_000)
    expect(await worker.runDue()).toMatchObject({ attempted: 0 })
  },
)

test.each(['try..this@docomo.ne.jp', 'user.@docomo.ne.jp', 'jörg@example.com', 'a%b@example.com', '"a b"@example.com'])(
  'The channel refuses the address %s of a directory, without asking the provider',
  async (address) => {
    const { port, recipients } = await inbox()
    const { worker, delivery } = await serverApp({ email: address }, () => channelAt(port))
    expect(await worker.runDue()).toMatchObject({ attempted: 1, failed: 1 })
    expect(shown(await delivery())).toBe('failed channel_rejected address_invalid 1 (1 rejected address_invalid)')
    expect(recipients).toEqual([])
  },
)

test('A connection that breaks after the message is unknown and is retried with the same Message-ID', async () => {
  const seen: string[] = []
  const port = await tcpPeer(
    afterData((socket, all) => {
      seen.push(all)
      if (seen.length === 1) socket.destroy()
      else socket.write('250 ok\r\n')
    }),
  )
  const { worker, delivery, tryAgain } = await appAt(port)
  await worker.runDue()
  expect(shown(await delivery())).toBe('queued connection_lost 1 (1 unknown connection_lost)')
  expect(shown(await tryAgain(800, 1_200))).toBe('sent connection_lost 2 (1 unknown connection_lost, 2 sent)')
  const [first, second] = idsOf(seen.map((all) => Buffer.from(all)))
  expect(first).toMatch(/^<dlv_/)
  expect(second).toBe(first)
})

test('A send to a server that stalls is aborted at the send time-out, and its connection closes', async () => {
  const closed: Promise<void>[] = []
  const port = await tcpPeer(
    afterData((socket: Socket) => {
      closed.push(new Promise((resolve) => void socket.once('close', resolve)))
      own.clock.advance(20_000)
    }),
  )
  const own = await appAt(port)
  await ended(own.worker.runDue(), own.clock)
  const { attemptLog = [] } = await own.delivery()
  expect(shown(await own.delivery())).toBe('queued aborted 1 (1 unknown aborted)')
  const [{ startedAt = '', endedAt = '' } = {}] = attemptLog
  expect(Date.parse(endedAt) - Date.parse(startedAt)).toBe(20_000)
  await Promise.all(closed)
  expect(closed).toHaveLength(1)
})

test('A send that times out in the transport has the outcome unknown and is retried', async () => {
  const timeOut = watchClient()
  const port = await tcpPeer(afterData(timeOut))
  const { worker, delivery, tryAgain } = await appAt(port)
  await worker.runDue()
  expect(shown(await delivery())).toBe('queued timeout 1 (1 unknown timeout)')
  expect(shown(await tryAgain(800, 1_200))).toBe('queued timeout 2 (1 unknown timeout, 2 unknown timeout)')
})
