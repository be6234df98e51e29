import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** PostgreSQL server that accepts every connection and ends it with a FATAL in the packet of its ReadyForQuery. */
export interface FatalServer {
  readonly url: string
  /** Resolves when it has ended this many connections. */
  ended(times: number): Promise<void>
  close(): Promise<void>
}

/** A protocol message: its type, the length of the rest including itself, and the body. */
function message(type: string, body: Buffer): Buffer {
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}

const AUTHENTICATION_OK = message('R', Buffer.alloc(4))
const READY_FOR_QUERY = message('Z', Buffer.from('I'))
const FATAL = message(
  'E',
  Buffer.from('SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0'),
)

export async function fatalServer(): Promise<FatalServer> {
  const sockets = new Set<Socket>()
  const waiting = new Set<() => void>()
  let times = 0
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('data', () => {
      socket.end(Buffer.concat([AUTHENTICATION_OK, READY_FOR_QUERY, FATAL]))
      times++
      for (const look of [...waiting]) look()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `postgres://ada:ada@127.0.0.1:${(server.address() as AddressInfo).port}/ada`,
    ended: (wanted) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (times >= wanted) resolve()
        }
        waiting.add(look)
        look()
      }),
    async close() {
      const closed = once(server, 'close')
      server.close()
      for (const socket of sockets) socket.destroy()
      await closed
    },
  }
}
