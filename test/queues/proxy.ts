import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** A way to a server of this machine that can fall silent: connections stay, and nothing gets through. */
export interface SilentProxy {
  readonly port: number
  /** From now on nothing gets through, in either direction, on old and new connections; none is refused or ended. */
  silence(): void
  /** What was held back gets through, and all that follows. */
  resume(): void
  /** Ends all connections. New ones are taken. */
  cut(): void
  /** Resolves when those who connected to it have ended all connections. */
  idle(): Promise<void>
  close(): Promise<void>
}

export async function silentProxy(targetPort: number): Promise<SilentProxy> {
  const clients = new Set<Socket>()
  const servers = new Set<Socket>()
  /** What is to be done when it speaks again; `undefined`: it does. */
  let held: (() => void)[] | undefined
  const passOn = (act: () => void): void => {
    if (held) held.push(act)
    else act()
  }
  const join = (from: Socket, to: Socket): void => {
    from.on('data', (bytes) => passOn(() => to.write(bytes)))
    // What is wrong with it is told by its end.
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
