import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { json } from 'node:stream/consumers'
import { freePort } from '../support/free-port.ts'

/** Answers one request. */
export type Answer = (response: ServerResponse) => unknown

/** A request of a client. */
export interface Asked {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: Readonly<Record<string, unknown>>
}

/** HTTP server in place of a provider's API, which answers by a script. */
export interface Provider {
  readonly url: string
  readonly asked: readonly Asked[]
  /** Sets the answers to the next requests; the last one repeats. */
  answers(...script: readonly Answer[]): void
}

const stops: (() => Promise<unknown>)[] = []

export async function startProvider(): Promise<Provider> {
  const asked: Asked[] = []
  let script: Answer[] = []
  // Nobody else listens there after the provider has stopped.
  const port = await freePort()
  const server = createServer(async (request, response) => {
    const body = request.method === 'POST' ? await json(request) : {}
    asked.push({ path: request.url ?? '', headers: request.headers, body: body as Asked['body'] })
    const answer = script.length > 1 ? script.shift() : script[0]
    await answer?.(response)
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  stops.push(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  })
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    answers(...answers) {
      script = [...answers]
    },
  }
}

/** Stops all providers; for `afterEach`. */
export async function stopProviders(): Promise<void> {
  for (const stop of stops.splice(0)) await stop()
}

/** Answers with JSON. */
export function whole(body: object, status = 200, headers: Record<string, string> = {}): Answer {
  return (response) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** Answers 429, and has the client retry at once. */
export const busy: Answer = whole({ error: { type: 'rate_limit_error', message: 'Slow down' } }, 429, {
  'retry-after-ms': '1',
})

/**
 * Answers with server-sent events, named by their `type`, and then ends (`end`), breaks the connection (`cut`) or sends
 * nothing more (`hang`).
 */
export function streamed(events: readonly (object | string)[], after: 'end' | 'cut' | 'hang' = 'end'): Answer {
  return async (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    for (const event of events) {
      await new Promise((written) => response.write(textOf(event), written))
    }
    if (after === 'end') response.end()
    if (after === 'cut') setImmediate(() => response.destroy())
  }
}

/** The text of one server-sent event. */
export function textOf(event: object | string): string {
  if (typeof event === 'string') return `data: ${event}\n\n`
  const name = 'type' in event ? `event: ${event.type}\n` : ''
  return `${name}data: ${JSON.stringify(event)}\n\n`
}
