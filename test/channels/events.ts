import { type WebhookOptions, webhook } from 'sallyport/channels/webhook'
import type { SendOutcome } from '../../src/ports/channel.ts'
import { context, message } from './messages.ts'
import { bodyOf, httpPeer } from './peers.ts'

export const SECRET: string = `whsec_${Buffer.alloc(32, 7).toString('base64')}`
export const NEXT_SECRET: string = `whsec_${Buffer.alloc(24, 9).toString('base64')}`
export const DATA = { orderId: '7', total: 12.5, note: 'ü \u2028 </script>' }

/** Sends to a server on this machine. */
export async function sendTo(
  port: number,
  options: Partial<WebhookOptions> = {},
  signal?: AbortSignal,
): Promise<SendOutcome> {
  const channel = webhook({ secret: SECRET, allowHttp: true, allowPrivateNetworks: true, ports: [port], ...options })
  return channel.send(message(`http://127.0.0.1:${port}/hook?a=b#c`, { data: DATA }), context(signal))
}

export interface Received {
  readonly method: string | undefined
  readonly url: string | undefined
  readonly headers: Record<string, string>
  readonly body: string
}

export async function recordingPeer(): Promise<{ port: number; received: Received[] }> {
  const received: Received[] = []
  const port = await httpPeer(async (request, response) => {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]))
    received.push({ method: request.method, url: request.url, headers, body: await bodyOf(request) })
    response.writeHead(204).end()
  })
  return { port, received }
}
