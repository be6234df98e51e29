import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Chance } from './chance.ts'
import type { SendLoop } from './host-settings.ts'

/** What arrived, and when. */
export interface Arrival extends SendLoop {
  /** Epoch milliseconds. */
  readonly at: number
}

/** The receiver of all messages. It outlives everything, and takes whatever comes. */
export interface Sink {
  readonly port: number
  readonly arrivals: readonly Arrival[]
  /** Answers nothing to this host from now on, and what it got from it before is not waited for. */
  hold(host: string): void
  /** Answers what was held, and holds no more. */
  release(): void
  close(): Promise<void>
}

/** @param takesMs How long it takes for each message, at least and at most. */
export async function openSink(chance: Chance, takesMs: readonly [number, number] = [5, 30]): Promise<Sink> {
  const arrivals: Arrival[] = []
  const held = new Set<string>()
  let unanswered: ServerResponse[] = []
  const server = createServer(async (request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    // A host that is killed while it sends has sent nothing that could be read.
    if (!(await once(request, 'end').catch(() => undefined))) return
    const sending: SendLoop = JSON.parse(body)
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
