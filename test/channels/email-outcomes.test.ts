import { once } from 'node:events'
import type { Socket } from 'node:net'
import { email, type MailTransport } from 'sallyport/channels/email'
import type { SMTPServerOptions } from 'smtp-server'
import { expect, test } from 'vitest'
import { CERTIFICATE, KEY } from './certificate.ts'
import { afterData, inbox, LETTER, outcomeAt, transportTo, watchClient } from './letters.ts'
import { context, message } from './messages.ts'
import { deadPort, deferred, refusal, tcpPeer } from './peers.ts'

test.each([
  ['451 to the recipient', { onRcptTo: (_a, _s, done) => done(refusal(451)) }, 'retry', 'smtp_451'],
  ['550 to the recipient', { onRcptTo: (_a, _s, done) => done(refusal(550)) }, 'rejected', 'smtp_550'],
  ['530 to the recipient', { onRcptTo: (_a, _s, done) => done(refusal(530)) }, 'retry', 'smtp_auth'],
  ['452 to the sender', { onMailFrom: (_a, _s, done) => done(refusal(452)) }, 'retry', 'smtp_452'],
  ['550 to the sender', { onMailFrom: (_a, _s, done) => done(refusal(550)) }, 'retry', 'smtp_550'],
  ['552 to the sender', { onMailFrom: (_a, _s, done) => done(refusal(552)) }, 'rejected', 'smtp_552'],
  ['554 to the connection', { onConnect: (_s, done) => done(refusal(554)) }, 'retry', 'smtp_554'],
  ['421 to the connection', { onConnect: (_s, done) => done(refusal(421)) }, 'retry', 'smtp_421'],
  [
    '451 to the message',
    { onData: (m, _s, done) => m.resume().on('end', () => done(refusal(451))) },
    'retry',
    'smtp_451',
  ],
  [
    '550 to the message',
    { onData: (m, _s, done) => m.resume().on('end', () => done(refusal(550))) },
    'rejected',
    'smtp_550',
  ],
] satisfies [string, SMTPServerOptions, string, string][])(
  'email gives the outcome of the reply %s',
  async (_what, options, outcome, code) => {
    const got = await outcomeAt(options)
    expect(got).toEqual({ outcome, code })
  },
)

test('email gives the outcome of a reply without pipelining too', async () => {
  const refused = {
    hidePIPELINING: true,
    onRcptTo: (_a: unknown, _s: unknown, done: (e: Error) => void) => done(refusal(550)),
  }
  expect(await outcomeAt(refused)).toEqual({ outcome: 'rejected', code: 'smtp_550' })
})

test('email gives the outcome of an LMTP reply after the message', async () => {
  const answer = (code: number): SMTPServerOptions => ({
    lmtp: true,
    // LMTP gives a result for each recipient, which the types do not cover.
    onData: (m, _s, done) =>
      m.resume().on('end', () => (done as (e: null, all: unknown[]) => void)(null, [refusal(code)])),
  })
  expect(await outcomeAt(answer(550), { lmtp: true })).toEqual({ outcome: 'rejected', code: 'smtp_550' })
  expect(await outcomeAt(answer(452), { lmtp: true })).toEqual({ outcome: 'retry', code: 'smtp_452' })
})

test('email gives retry for a refused login, which the host can fix', async () => {
  const outcome = await outcomeAt(
    {
      disabledCommands: ['STARTTLS'],
      authOptional: true,
      allowInsecureAuth: true,
      onAuth: (_a, _s, done) => done(refusal(535)),
    },
    { auth: { user: 'shop', pass: 'wrong' } },
  )
  expect(outcome).toEqual({ outcome: 'retry', code: 'smtp_auth' })
})

test('email gives retry if no server listens', async () => {
  const channel = email(transportTo(await deadPort()), { from: 'shop@example.com' })
  const outcome = await channel.send(message('ada@example.test', LETTER), context())
  expect(outcome).toEqual({ outcome: 'retry', code: 'connection_failed' })
})

test('email gives retry for a server that never greets', async () => {
  const port = await tcpPeer(() => {})
  const channel = email(transportTo(port, { greetingTimeout: 20 }), { from: 'shop@example.com' })
  const outcome = await channel.send(message('ada@example.test', LETTER), context())
  expect(outcome).toEqual({ outcome: 'retry', code: 'connection_failed' })
})

test('email gives retry for an untrusted certificate', async () => {
  const outcome = await outcomeAt({ secure: true, cert: CERTIFICATE, key: KEY }, { secure: true, ignoreTLS: false })
  expect(outcome).toEqual({ outcome: 'retry', code: 'connection_failed' })
})

const LONG = { ...LETTER, text: 'x'.repeat(4_000_000) }
const STAGES = ['EHLO', 'MAIL FROM', 'RCPT TO', 'DATA', 'in the middle of the message'] as const

/** Speaks SMTP up to that command, or into the message, then calls `then` instead of answering. */
function until(stage: (typeof STAGES)[number], then: (socket: Socket) => void): (socket: Socket) => void {
  return (socket) => {
    socket.on('error', () => {})
    socket.write('220 here\r\n')
    let isOver = false
    let isData = false
    socket.on('data', (chunk) => {
      if (isOver) return
      const lines = chunk.toString('latin1').split('\r\n')
      if (isData || lines.some((line) => line.startsWith(stage))) {
        isOver = true
        return then(socket)
      }
      isData = lines.includes('DATA')
      socket.write(isData ? '354 continue\r\n' : '250 ok\r\n')
    })
  }
}

const pooled = [false, true] as const

test.each(STAGES.flatMap((stage) => pooled.map((pool) => [stage, pool] as const)))(
  'email gives retry if the connection breaks at %s, with a pool: %s',
  async (stage, pool) => {
    const port = await tcpPeer(until(stage, (socket) => socket.destroy()))
    const channel = email(transportTo(port, { pool }), { from: 'shop@example.com' })
    const outcome = await channel.send(message('ada@example.test', LONG), context())
    expect(outcome).toEqual({ outcome: 'retry', code: 'connection_lost' })
  },
)

test.each(STAGES)('email gives retry if the server falls silent at %s', async (stage) => {
  const timeOut = watchClient()
  const silent = (socket: Socket) => {
    socket.pause()
    timeOut()
  }
  const port = await tcpPeer(until(stage, silent))
  const channel = email(transportTo(port), { from: 'shop@example.com' })
  const outcome = await channel.send(message('ada@example.test', LONG), context())
  expect(outcome).toEqual({ outcome: 'retry', code: 'timeout' })
})

test('Several channels of one transport track the progress of their mails separately', async () => {
  let connections = 0
  const port = await tcpPeer((socket) =>
    ++connections % 2 === 1
      ? until('RCPT TO', (own) => own.destroy())(socket)
      : afterData((own) => own.destroy())(socket),
  )
  const transport = transportTo(port)
  const channels = [email(transport, { from: 'shop@example.com' }), email(transport, { from: 'news@example.com' })]
  const outcomes: string[] = []
  for (const channel of [...channels, ...channels]) {
    outcomes.push((await channel.send(message('ada@example.test', LETTER), context())).outcome)
  }
  expect(outcomes).toEqual(['retry', 'unknown', 'retry', 'unknown'])
})

test("email gives unknown for a lost connection of any transport but nodemailer's SMTP", async () => {
  const lost = Object.assign(new Error('Connection closed'), { code: 'ECONNECTION', command: 'CONN' })
  const plugins: unknown[] = []
  for (const extra of [
    {},
    { use: (_step: string, plugin: unknown) => plugins.push(plugin), transporter: { name: 'Mine' } },
  ]) {
    const channel = email({ sendMail: () => Promise.reject(lost), ...extra }, { from: 'shop@example.com' })
    const outcome = await channel.send(message('ada@example.test', LETTER), context())
    expect(outcome).toEqual({ outcome: 'unknown', code: 'connection_lost' })
  }
  expect(plugins).toEqual([])
})

test('email gives unknown if the connection breaks after the message', async () => {
  const port = await tcpPeer(afterData((socket) => socket.destroy()))
  const channel = email(transportTo(port), { from: 'shop@example.com' })
  const outcome = await channel.send(message('ada@example.test', LETTER), context())
  expect(outcome).toEqual({ outcome: 'unknown', code: 'connection_lost' })
})

test('email gives unknown if the connection falls silent after the message', async () => {
  const timeOut = watchClient()
  const port = await tcpPeer(afterData(timeOut))
  const channel = email(transportTo(port), { from: 'shop@example.com' })
  const outcome = await channel.send(message('ada@example.test', LETTER), context())
  expect(outcome).toEqual({ outcome: 'unknown', code: 'timeout' })
})

test('An abort during a stall ends the mail attempt and the connection', async () => {
  const stalled = deferred<Socket>()
  const port = await tcpPeer(afterData(stalled.resolve))
  const channel = email(transportTo(port), { from: 'shop@example.com' })
  const lease = new AbortController()
  const sending = channel.send(message('ada@example.test', LETTER), context(lease.signal))
  const socket = await stalled.promise
  lease.abort()
  expect(await sending).toEqual({ outcome: 'unknown', code: 'aborted' })
  if (!socket.closed) await once(socket, 'close')
})

test('An abort ends the mail attempt even if the transport ignores signals', async () => {
  const lease = new AbortController()
  const transport: MailTransport = { sendMail: () => new Promise(() => lease.abort()) }
  const channel = email(transport, { from: 'shop@example.com' })
  const outcome = await channel.send(message('ada@example.test', LETTER), context(lease.signal))
  expect(outcome).toEqual({ outcome: 'unknown', code: 'aborted' })
})

test('email sends nothing after an abort', async () => {
  const { port, letters } = await inbox()
  const channel = email(transportTo(port), { from: 'shop@example.com' })
  const outcome = await channel.send(message('ada@example.test', LETTER), context(AbortSignal.abort()))
  expect(outcome).toEqual({ outcome: 'retry', code: 'aborted' })
  expect(letters).toHaveLength(0)
})

const BOOM = new Error('boom')

test.each([
  [
    'throws',
    () => {
      throw BOOM
    },
    BOOM,
  ],
  ['rejects with nothing', () => Promise.reject(null), null],
])('email gives unknown for a transport that %s', async (_what, sendMail, cause) => {
  const channel = email({ sendMail }, { from: 'shop@example.com' })
  const outcome = await channel.send(message('ada@example.test', LETTER), context())
  expect(outcome).toEqual({ outcome: 'unknown', code: 'transport_error', cause })
})
