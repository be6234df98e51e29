import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Proxy to a server of this machine that can fall silent: connections stay open, and no data passes. */
export interface SilentProxy {
  readonly port: number
  /** Stops all data in both directions, on old and new connections. It refuses and ends no connection. */
  silence(): void
  /** Passes the held data, and all that follows. */
  resume(): void
  /** Ends all connections. It accepts new ones. */
  cut(): void
  /** Resolves when the clients have ended all connections. */
  idle(): Promise<void>
  close(): Promise<void>
}

/** @param isLost A connection ends instead of passing on these bytes of its client. */
export async function silentProxy(
  targetPort: number,
  isLost: (bytes: Buffer) => boolean = () => false,
): Promise<SilentProxy> {
  const clients = new Set<Socket>()
  const servers = new Set<Socket>()
  /** Actions to run on `resume`; `undefined` while data passes. */
  let held: (() => void)[] | undefined
  const passOn = (act: () => void): void => {
    if (held) held.push(act)
    else act()
  }
  const join = (from: Socket, to: Socket): void => {
    from.on('data', (bytes) => {
      if (clients.has(from) && isLost(bytes)) from.destroy()
      else passOn(() => to.write(bytes))
    })
    // The close event reports the end of a broken connection.
    from.on('error', () => {})
    from.on('close', () => passOn(() => to.destroy()))
  }
  const keep = (sockets: Set<Socket>, socket: Socket): void => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  }

  const server = createServer((near) => {
    const far = connect(targetPort, '127.0.0.1')
    keep(clients, near)
    keep(servers, far)
    join(near, far)
    join(far, near)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    for (const socket of [...clients, ...servers]) socket.destroy()
  }

  return {
    port: (server.address() as AddressInfo).port,
    silence() {
      held ??= []
    },
    resume() {
      const acts = held ?? []
      held = undefined
      for (const act of acts) act()
    },
    cut,
    async idle() {
      for (const socket of clients) await once(socket, 'close')
    },
    async close() {
      if (!server.listening) return
      const closed = once(server, 'close')
      server.close()
      cut()
      await closed
    },
  }
}
