import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { toNode } from '../../src/adapters/node.ts'
import { type ConsoleOptions, createConsole, type Mountable } from '../../src/console/index.ts'

export interface RunningConsole {
  /** URL of the console, with a slash at its end. */
  readonly url: string
  close(): Promise<void>
}

/** Serves on the loopback what answers a console at `prefix`. */
export async function serve(answer: RequestListener | undefined, prefix: string): Promise<RunningConsole> {
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

/** The handler of a console at `/ops`, which everyone may use to change everything. */
export function consoleAt(sallyport: Mountable, options: Partial<ConsoleOptions> = {}): RequestListener {
  return toNode(createConsole(sallyport, { access: () => 'operate', ...options }), { basePath: '/ops' })
}

/** Serves the console of a host at `/ops`. */
export function openConsole(sallyport: Mountable, options?: Partial<ConsoleOptions>): Promise<RunningConsole> {
  return serve(consoleAt(sallyport, options), '/ops')
}
