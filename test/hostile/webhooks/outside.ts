import { createServer } from 'node:net'
import { onTestFinished } from 'vitest'

type Connect = (this: object, request: object, address: string, port: number, ...rest: readonly unknown[]) => number

interface TcpHandle {
  connect: Connect
  connect6: Connect
}

const UNREACHABLE = -101

/**
 * Simulates the internet for one test: a server on this machine answers for every address at that port, and no packet
 * leaves. Replaces the operating system's `connect`, so no connection can bypass it.
 */
export async function outside(unreachable: readonly string[] = []): Promise<{ readonly connected: readonly string[] }> {
  const handle = await tcpHandle()
  const { connect, connect6 } = handle
  const connected: string[] = []
  const stub: Connect = function (request, address, port) {
    connected.push(address)
    return unreachable.includes(address) ? UNREACHABLE : connect.call(this, request, '127.0.0.1', port)
  }
  Object.assign(handle, { connect: stub, connect6: stub })
  onTestFinished(() => void Object.assign(handle, { connect, connect6 }))
  return { connected }
}

/** The prototype from which all TCP sockets of this process have their `connect`. */
async function tcpHandle(): Promise<TcpHandle> {
  const server = createServer()
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { _handle: handle } = server as unknown as { readonly _handle: object }
  const prototype: TcpHandle = Object.getPrototypeOf(handle)
  server.close()
  return prototype
}
