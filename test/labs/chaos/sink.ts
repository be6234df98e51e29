import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Chance } from './chance.ts'
import type { SinkPost } from './host-settings.ts'

/** A received message with its time. */
export interface Arrival extends SinkPost {
  /** Epoch milliseconds. */
  readonly at: number
}

/** The receiver of all messages. It runs through the whole trial and accepts everything. */
export interface Sink {
  readonly port: number
  readonly arrivals: readonly Arrival[]
  /** Stops answering this host; its earlier messages are not waited for. */
  hold(host: string): void
  /** Answers held requests and stops holding. */
  release(): void
  close(): Promise<void>
}

/** @param takesMs Minimum and maximum time for each message. */
export async function openSink(chance: Chance, takesMs: readonly [number, number] = [5, 30]): Promise<Sink> {
  const arrivals: Arrival[] = []
  const held = new Set<string>()
  let unanswered: ServerResponse[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    // A host killed during a send has sent no complete message.
    if (!(await once(request, 'end').catch(() => undefined))) return
    const sending: SinkPost = JSON.parse(body)
    arrivals.push({ ...sending, at: Date.now() })
    if (held.has(sending.host)) unanswered.push(response)
    else setTimeout(() => response.end(), chance.between(...takesMs))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    arrivals,
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
