import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Chance } from './chance.ts'
import type { SinkPost } from './host-settings.ts'
import { passing } from './until.ts'

/** A received message with its time. */
export interface Arrival extends SinkPost {
  /** Epoch milliseconds. */
  readonly at: number
}

/** A message whose sender went away before the answer. */
export interface CutSend extends Arrival {
  /** Whether it was accepted before: then it is an arrival too. */
  readonly isAccepted: boolean
}

/** The receiver of all messages. It runs through the whole trial and accepts everything. */
export interface Sink {
  readonly port: number
  readonly arrivals: readonly Arrival[]
  readonly cut: readonly CutSend[]
  /** Stops answering this host; its earlier messages are not waited for. */
  hold(host: string): void
  /** Answers held requests and stops holding. */
  release(): void
  close(): Promise<void>
}

/**
 * @param takesMs Minimum and maximum time for each message, from its acceptance until the answer.
 * @param acceptsMs Minimum and maximum time until a message is accepted, if its sender is still there. Default: every
 *   message is accepted at once.
 */
export async function openSink(
  chance: Chance,
  takesMs: readonly [number, number] = [5, 30],
  acceptsMs?: readonly [number, number],
): Promise<Sink> {
  const arrivals: Arrival[] = []
  const cut: CutSend[] = []
  const held = new Set<string>()
  let unanswered: ServerResponse[] = []
  // Only hosts close idle connections, so that no message meets a closing one.
  const server = createServer({ keepAliveTimeout: 0 }, async (request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    // A host killed during a send has sent no complete message.
    if (!(await once(request, 'end').catch(() => undefined))) return
    const sending: SinkPost = JSON.parse(body)
    let isAccepted = false
    response.once('close', () => {
      if (!response.writableEnded) cut.push({ ...sending, at: Date.now(), isAccepted })
    })
    if (acceptsMs) {
      await passing(chance.between(...acceptsMs))
      if (response.closed) return
    }
    isAccepted = true
    arrivals.push({ ...sending, at: Date.now() })
    if (held.has(sending.host)) unanswered.push(response)
    else setTimeout(() => response.end(), chance.between(...takesMs))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    arrivals,
    cut,
    hold: (host) => void held.add(host),
    release() {
      held.clear()
      for (const response of unanswered) response.end()
      unanswered = []
    },
    async close() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}
