import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'
import { toNode } from '../../../src/adapters/node.ts'
import { createSallyport, defineEvents, type Sallyport } from '../../../src/index.ts'
import { memoryStore } from '../../../src/storage/memory/index.ts'
import { HostClock } from '../../support/host-clock.ts'

export const DISPATCH = '/api/outbound/dispatch'
export const RUN = '/api/agents/session/run'

interface FloodedHost {
  readonly url: string
  readonly sallyport: Sallyport
  /** Opens a connection and sends the head of a chunked post. */
  open(path: string, token: string): Socket
  /** Opens a connection and sends the head of a post with these header lines. */
  begin(path: string, lines: readonly string[]): Socket
  /** Bytes that the server has read from all connections. */
  bytesRead(): number
}

/** A host on a real port, as a user makes one. A token is a tenant and a principal: `acme.agent`; a third part is its session. */
export async function floodedHost(
  serverOf: (sallyport: Sallyport) => Server = (sallyport) => createServer(toNode(sallyport)),
  options: object = {},
): Promise<FloodedHost> {
  const sallyport = createSallyport<unknown>({
    auth: {
      async verify(token: string) {
        const [tenant = '', id = '', sessionId] = token.split('.')
        return { tenant, id, ...(sessionId !== undefined && { sessionId }) }
      },
    },
    events: defineEvents({ closed: { channels: { email: { subject: () => 'Closed' } } } }),
    store: memoryStore(),
    channels: { email: { address: ({ email }) => email, send: async () => ({ outcome: 'sent' }) } },
    logger: { log() {} },
    // Stands still, so that slow machines exceed no time limit.
    clock: new HostClock(),
    ...options,
  }) as Sallyport
  const sockets = new Set<Socket>()
  const server = serverOf(sallyport).on('connection', (socket) => sockets.add(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const begin: FloodedHost['begin'] = (path, lines) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {})
    onTestFinished(() => void socket.destroy())
    socket.write(`${[`POST ${path} HTTP/1.1`, 'host: a', ...lines].join('\r\n')}\r\n\r\n`)
    return socket
  }
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    url: `http://127.0.0.1:${port}`,
    sallyport,
    begin,
    open: (path, token) =>
      begin(path, ['content-type: application/json', 'transfer-encoding: chunked', `authorization: Bearer ${token}`]),
    bytesRead: () => [...sockets].reduce((sum, socket) => sum + socket.bytesRead, 0),
  }
}
