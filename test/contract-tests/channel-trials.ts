import { email, type MailTransport } from 'sallyport/channels/email'
import { failover } from 'sallyport/channels/failover'
import { log } from 'sallyport/channels/log'
import { sms } from 'sallyport/channels/sms'
import { webhook } from 'sallyport/channels/webhook'
import type { ChannelTrial, ProviderBehaviours, ReceivedMessage } from '../../src/contract-tests/channel-trial.ts'
import { recordingChannel } from '../../src/contract-tests/recording-channel.ts'
import { SECRET } from '../channels/events.ts'
import { afterData, inbox, transportTo } from '../channels/letters.ts'
import { bodyOf, deferred, httpPeer, refusal, tcpPeer } from '../channels/peers.ts'

/** Text in the answers of the provider. It must not leak. */
const CHATTER = 'mailbox of ada is on fire'

type Behaviour = keyof ProviderBehaviours

/** An HTTP provider that rejects with one status and is busy with another. */
async function httpProvider(
  refusesWith: number,
): Promise<{ port: number; outcomes: ProviderBehaviours; received: ReceivedMessage[] }> {
  let behaviour: Behaviour = 'succeed'
  let taken = deferred()
  const received: ReceivedMessage[] = []
  const become = (next: Behaviour) => (): void => {
    behaviour = next
  }
  const port = await httpPeer(async (request, response) => {
    const body = await bodyOf(request)
    if (behaviour === 'hang') return taken.resolve()
    if (behaviour === 'unknown') return void request.socket.resetAndDestroy()
    if (behaviour === 'succeed') {
      const idempotencyKey = request.headers['webhook-id']
      received.push({ text: body, ...(typeof idempotencyKey === 'string' && { idempotencyKey }) })
      return void response.writeHead(200).end('{}')
    }
    const status = behaviour === 'reject' ? refusesWith : 503
    response.writeHead(status, { 'retry-after': '7' }).end(JSON.stringify({ message: CHATTER }))
  })
  const hang = (): { taken: Promise<void> } => {
    behaviour = 'hang'
    taken = deferred()
    return { taken: taken.promise }
  }
  const behaviours = { succeed: become('succeed'), reject: become('reject'), retry: become('retry') }
  return { port, received, outcomes: { ...behaviours, unknown: become('unknown'), hang } }
}

const webhookTo = (port: number) =>
  webhook({ secret: SECRET, allowHttp: true, allowPrivateNetworks: true, ports: [port] })

export async function webhookTrial(): Promise<ChannelTrial> {
  const { port, outcomes, received } = await httpProvider(410)
  return {
    channel: webhookTo(port),
    recipient: { id: 'u1', url: `http://127.0.0.1:${port}/hook` },
    unreachable: { id: 'u2', email: 'ada@example.test' },
    content: (word) => ({ data: { word } }),
    outcomes,
    received: () => received,
    secrets: [SECRET, SECRET.slice('whsec_'.length), CHATTER],
  }
}

/** A failover of two channels to the same provider. */
export async function failoverTrial(): Promise<ChannelTrial> {
  const trial = await webhookTrial()
  const port = Number(new URL(trial.recipient.url ?? '').port)
  return { ...trial, channel: failover(webhookTo(port), webhookTo(port)) }
}

export async function smsTrial(): Promise<ChannelTrial> {
  const { port, outcomes, received } = await httpProvider(400)
  const derived = { accountSid: 'AC123', authToken: 't0ken-of-the-account', from: '+15005550006' }
  return {
    channel: sms({ ...derived, baseUrl: `http://127.0.0.1:${port}` }),
    recipient: { id: 'u1', phone: '+436601234567' },
    unreachable: { id: 'u2', email: 'ada@example.test' },
    content: (word) => ({ text: `It is ${word}` }),
    outcomes,
    received: () => received,
    secrets: [derived.authToken, derived.accountSid, CHATTER],
  }
}

/** One SMTP server for each behaviour, and a transport to the current one. */
export async function emailTrial(): Promise<ChannelTrial> {
  const { port, letters } = await inbox()
  const refusing = (code: number) =>
    inbox({ onRcptTo: (_address, _session, callback) => callback(Object.assign(refusal(code), { message: CHATTER })) })
  const taken = deferred()
  const to: Record<Behaviour, MailTransport> = {
    succeed: transportTo(port),
    reject: transportTo((await refusing(550)).port),
    retry: transportTo((await refusing(450)).port),
    unknown: transportTo(await tcpPeer(afterData((socket) => socket.destroy()))),
    hang: transportTo(await tcpPeer(afterData(() => taken.resolve()))),
  }
  let behaviour: Behaviour = 'succeed'
  const become = (next: Behaviour) => (): void => {
    behaviour = next
  }
  const behaviours = { succeed: become('succeed'), reject: become('reject'), retry: become('retry') }
  return {
    channel: email({ sendMail: (mail) => to[behaviour].sendMail(mail) }, { from: 'shop@example.com' }),
    recipient: { id: 'u1', email: 'ada@example.test' },
    unreachable: { id: 'u2', url: 'https://hook.example/' },
    content: (word) => ({ subject: 'News', text: `It is ${word}` }),
    outcomes: {
      ...behaviours,
      unknown: become('unknown'),
      hang() {
        behaviour = 'hang'
        return { taken: taken.promise }
      },
    },
    received: () =>
      letters.map((letter) => {
        const text = letter.toString('utf8')
        const [, idempotencyKey] = /^Message-ID: (\S+)/im.exec(text) ?? []
        return { text, ...(idempotencyKey !== undefined && { idempotencyKey }) }
      }),
    secrets: [CHATTER],
  }
}

export function logTrial(): ChannelTrial {
  const lines: string[] = []
  return {
    channel: log({ write: (line) => lines.push(line) }),
    recipient: { id: 'u1' },
    content: (word) => ({ text: `It is ${word}` }),
    received: () =>
      lines.map((text) => {
        const [, idempotencyKey = ''] = /delivery: (\S+)/.exec(text) ?? []
        return { text, idempotencyKey }
      }),
  }
}

export function recordingTrial(): ChannelTrial {
  const channel = recordingChannel()
  return {
    channel,
    recipient: { id: 'u1' },
    content: (word) => ({ text: `It is ${word}` }),
    received: () =>
      channel.sent.map(({ content, deliveryId }) => ({ text: JSON.stringify(content), idempotencyKey: deliveryId })),
  }
}
