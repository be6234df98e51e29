import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type RequestListener, type Server } from 'node:http'
import {
  createSallyport,
  defineEvents,
  type EventCatalog,
  type JsonObject,
  type Run,
  type Sallyport,
  type SallyportOptions,
} from 'sallyport'
import { toNode } from 'sallyport/node'
import { memoryStore } from 'sallyport/storage/memory'
import * as v from 'valibot'
import { testAuth } from '../support/deps.ts'
import { freePort } from '../support/free-port.ts'
import { recordingChannel } from '../support/recording-channel.ts'

export { until } from '../support/until.ts'

interface TestEvents {
  readonly 'order.shipped': { orderId: string; total: number }
  readonly ping: JsonObject
}

export const events: EventCatalog<TestEvents> = defineEvents({
  'order.shipped': {
    data: v.object({ orderId: v.string(), total: v.number() }),
    channels: { email: { subject: ({ data }) => `Order ${data.orderId} shipped`, text: () => 'On its way' } },
  },
  ping: { channels: { email: { subject: () => 'Ping', text: () => 'Pong' } } },
})

const stops: (() => Promise<unknown>)[] = []

/** Stops all servers; for `afterEach`. */
export async function stopServers(): Promise<void> {
  for (const stop of stops.splice(0)) await stop()
}

/** A server that can close and reopen. */
export interface TestServer {
  readonly url: string
  close(): Promise<void>
  reopen(): Promise<void>
}

async function serve(listener: RequestListener): Promise<TestServer> {
  // Its own while it is closed too.
  const port = await freePort()
  let server = await listening(listener, port)
  const close = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  }
  stops.push(close)
  return {
    url: `http://127.0.0.1:${port}`,
    close,
    async reopen() {
      server = await listening(listener, port)
    },
  }
}

async function listening(listener: RequestListener, port: number): Promise<Server> {
  const server = createServer(listener).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return server
}

/** A server with a Sallyport. */
export interface TestHost extends TestServer {
  readonly sallyport: Pick<Sallyport, 'dispatches' | 'runs'>
  /** Number of requests so far. */
  asked(): number
  /** A recorded run, if present. Default: of any session. */
  run(runId: string, sessionId?: string): Promise<Run | undefined>
}

/** @param before Answers a request and returns true, or leaves it to Sallyport. */
export async function startHost(
  options: Partial<SallyportOptions<object>> & { readonly basePath?: string } = {},
  before: (...call: Parameters<RequestListener>) => boolean = () => false,
): Promise<TestHost> {
  const { basePath, ...ports } = options
  const sallyport = createSallyport({
    auth: testAuth,
    events,
    store: memoryStore(),
    channels: { email: recordingChannel() },
    ...ports,
  })
  const handle = toNode(sallyport, { basePath })
  let asked = 0
  const server = await serve((request, response) => {
    asked += 1
    if (!before(request, response)) handle(request, response)
  })
  const run = async (runId: string, sessionId?: string): Promise<Run | undefined> =>
    (await sallyport.runs.list({ sessionId })).items.find((each) => each.runId === runId)
  return { ...server, sallyport, run, asked: () => asked }
}

/** The answer to one request. `hang`: never. `reset`: the connection breaks. */
export type Scripted =
  | 'hang'
  | 'reset'
  | { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string | object }

/** A server that answers by a script, whose last entry repeats, and the requests it got. */
export async function startScripted(
  ...script: readonly Scripted[]
): Promise<TestServer & { readonly asked: { url: string; headers: IncomingHttpHeaders; body: unknown }[] }> {
  const asked: { url: string; headers: IncomingHttpHeaders; body: unknown }[] = []
  const server = await serve(async (request, response) => {
    const text = await new Response(request as never).text()
    const answer = script[Math.min(asked.length, script.length - 1)]
    asked.push({ url: request.url ?? '', headers: request.headers, body: text === '' ? undefined : JSON.parse(text) })
    if (answer === undefined || answer === 'hang') return
    if (answer === 'reset') return void request.socket.destroy()
    const { status, headers, body = '' } = answer
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  })
  return { ...server, asked }
}

/** An accepted dispatch, with the fields a client checks. */
export const ACCEPTED: Scripted = { status: 202, body: { dispatchId: 'dsp_1', warnings: [] } }
