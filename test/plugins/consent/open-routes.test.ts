import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { sendgrid } from 'sallyport/feedback/sendgrid'
import { twilio } from 'sallyport/feedback/twilio'
import { expect, test } from 'vitest'
import { linkToken } from '../../../src/core/links/link-token.ts'
import { consent } from '../../../src/plugins/consent/consent.ts'
import type { FeedbackRequest } from '../../../src/ports/feedback-source.ts'
import { readyHashKeys } from '../../../src/runtime/ready-hash-keys.ts'
import { sendgridSigner, TWILIO_TOKEN, TWILIO_URL } from '../../feedback/signers.ts'
import { floodedHost } from '../../hostile/floods/flooded-host.ts'

const SENDGRID = '/api/outbound/feedback/sg'
const TWILIO = '/api/outbound/feedback/tw'
const SIGNATURE = 'x-twilio-email-event-webhook-signature'
const TIMESTAMP = 'x-twilio-email-event-webhook-timestamp'
const KEYS = [{ kid: 'k1', key: new Uint8Array(32).fill(7) }]
const signer = sendgridSigner()

/** The time of hosts that are flooded, whose clock stands still. */
const SECONDS = 0

const OPTIONS = {
  links: { baseUrl: 'https://app.example', keys: KEYS },
  plugins: [
    consent({
      keys: KEYS,
      feedback: {
        sg: sendgrid({ channel: 'email', publicKey: signer.publicKey }),
        tw: twilio({ channel: 'email', authToken: TWILIO_TOKEN, url: TWILIO_URL }),
      },
    }),
  ],
}

/** The first line of an answer. */
async function statusOf(socket: Socket): Promise<string> {
  const [bytes] = await once(socket, 'data')
  return String(bytes).split('\r\n', 1)[0] ?? ''
}

function signedLines(request: FeedbackRequest): readonly string[] {
  return [SIGNATURE, TIMESTAMP].map((name) => `${name}: ${request.header(name)}`)
}

type Host = Awaited<ReturnType<typeof floodedHost>>

/** Places for unfinished bodies. */
const PLACES = 1_000

/** Slow bodies of strangers on one route. They hold all places, and the oldest ones have lost theirs. */
async function flood(host: Host, path: string, lines: readonly string[], count: number) {
  const sockets: Socket[] = []
  let displaced = 0

  /** Opens a connection, and sends a head and two bytes of a body. */
  async function add(): Promise<void> {
    const before = host.bytesRead()
    const socket = host.begin(path, [...lines, 'content-length: 1000'])
    socket.write('ab')
    sockets.push(socket)
    while (host.bytesRead() === before) await setImmediate()
  }
  for (let at = 0; at < PLACES; at++) await add()
  for (let at = PLACES; at < count; at++) await pushOut(() => add())

  /** Does something that takes the place of the oldest body. */
  async function pushOut(act: () => unknown): Promise<void> {
    const refused = statusOf(sockets[displaced++] as Socket)
    await act()
    expect(await refused).toBe('HTTP/1.1 503 Service Unavailable')
  }

  return {
    /** Sends a genuine request in two pieces, the body once its head has taken a place, which a stranger takes again. */
    async sendBeside(to: string, head: readonly string[], body: Uint8Array): Promise<string> {
      let answer: Promise<string> | undefined
      let socket: Socket | undefined
      await pushOut(() => {
        socket = host.begin(to, [...head, `content-length: ${body.byteLength}`])
        answer = statusOf(socket)
      })
      socket?.write(body)
      const status = await answer
      await add()
      return status ?? ''
    },
  }
}

test('Feedback is accepted beside 1,100 slow bodies of strangers on its route', { timeout: 120_000 }, async () => {
  const host = await floodedHost(undefined, OPTIONS)
  const forged = signedLines(sendgridSigner().sign('[]', SECONDS))
  const { sendBeside } = await flood(host, SENDGRID, forged, 1_100)
  for (let at = 0; at < 40; at++) {
    const genuine = signer.sign(JSON.stringify([{ event: 'delivered', sg_event_id: `e${at}` }]), SECONDS)
    expect(await sendBeside(SENDGRID, signedLines(genuine), genuine.body)).toBe('HTTP/1.1 200 OK')
  }
})

test('One-click posts are accepted beside 1,100 slow bodies of strangers on their route', {
  timeout: 120_000,
}, async () => {
  const host = await floodedHost(undefined, OPTIONS)
  const linkOf = async (name: string): Promise<string> => {
    const target = ['default', 'email', `k1.${name.padEnd(43, 'x')}`, 'news']
    return `/api/outbound/unsubscribe/${await linkToken('unsubscribe', target, readyHashKeys(KEYS))}`
  }
  const form = ['content-type: application/x-www-form-urlencoded']
  const { sendBeside } = await flood(host, await linkOf('attacker'), form, 1_100)
  const body = new TextEncoder().encode('List-Unsubscribe=One-Click')
  for (let at = 0; at < 25; at++) {
    expect(await sendBeside(await linkOf(`user${at}`), form, body)).toBe('HTTP/1.1 200 OK')
  }
})

test('Feedback without a signature, and forms that are too long, are refused before their bodies are read', async () => {
  const host = await floodedHost(undefined, OPTIONS)
  const length = 'content-length: 1048576'
  expect(await statusOf(host.begin(SENDGRID, [length]))).toBe('HTTP/1.1 401 Unauthorized')
  expect(await statusOf(host.begin(TWILIO, [length, 'x-twilio-signature: AAAA']))).toBe('HTTP/1.1 401 Unauthorized')
  const forged = `x-twilio-signature: ${'A'.repeat(27)}=`
  expect(await statusOf(host.begin(TWILIO, [length, forged]))).toBe('HTTP/1.1 413 Payload Too Large')
})
