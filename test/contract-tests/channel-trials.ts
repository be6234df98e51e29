import { webhook } from 'sallyport/channels/webhook'
import type { ChannelTrial, ProviderBehaviours, ReceivedMessage } from '../../src/contract-tests/channel-trial.ts'
import type { Channel } from '../../src/ports/channel.ts'
import { SECRET } from '../channels/events.ts'
import { bodyOf, deferred, httpPeer } from '../channels/peers.ts'

/** Text in the answers of the provider. It must not leak. */
export const CHATTER = 'mailbox of ada is on fire'

export type Behaviour = keyof ProviderBehaviours

/** An HTTP provider that rejects with one status and is busy with another. */
export async function httpProvider(
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

export const webhookTo = (port: number): Channel =>
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
