import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNode } from '../../src/adapters/node.ts'
import { createConsole, type Mountable } from '../../src/console/index.ts'

export interface RunningConsole {
  /** URL of the console, with a slash at its end. */
  readonly url: string
  close(): Promise<void>
}

/** Serves on the loopback what answers a console at `prefix`. */
export async function serve(answer: Parameters<typeof createServer>[1], prefix: string): Promise<RunningConsole> {
  const server = createServer(answer)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}${prefix}/`,
    async close() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Serves the console of a host that lets everyone change everything. */
export function openConsole(sallyport: Mountable): Promise<RunningConsole> {
  return serve(toNode(createConsole(sallyport, { access: () => 'operate' }), { basePath: '/ops' }), '/ops')
}
