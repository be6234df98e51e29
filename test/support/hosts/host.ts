import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Mountable } from '../../../src/adapters/node.ts'

export interface HostOptions {
  readonly basePath?: string
  /** Mounts below `/v1` in the framework's own way, which takes the prefix off. Only where {@link Host.mounts} says so. */
  readonly descendants?: '/v1'
  /** The host has parsed JSON bodies before Sallyport sees them; under fetch it has read a copy. */
  readonly parser?: boolean
}

export interface RunningHost {
  /** The origin: scheme, address and port. */
  readonly url: string
  /** What reached the framework's own error handler, which answers 599. */
  readonly errors: readonly unknown[]
  /** Stops as a deploy does it: takes nothing new, and resolves once what is in flight was answered. */
  drain(): Promise<void>
  /** Stops at once. */
  close(): Promise<void>
}

/**
 * A server of some framework with Sallyport in it. It parses a post of JSON to `/own/json` by itself, gives it back as
 * `{ own: … }`, and answers every other path with 200 and {@link HOST_ANSWER}.
 */
export interface Host {
  readonly name: string
  start(sallyport: Mountable, options?: HostOptions): Promise<RunningHost>
  /** Done once before any start, where a host needs it; gives what undoes it. */
  readonly prepare?: () => Promise<() => Promise<void>>
  /** `strips`: the framework has a way to mount below a path that takes the path off. Otherwise: why not. */
  readonly mounts: 'strips' | { readonly whole: string }
  /** Who answers when something throws that never should: the framework's error handler, or Sallyport, because of this. */
  readonly errors: 'framework' | { readonly sallyport: string }
  /** Whether a host can have read the body first. Otherwise: why not. */
  readonly parser: 'first' | { readonly none: string }
  /** Whether it keeps the runtime going after an answer, to have delivered what was accepted. Otherwise a worker does it. */
  readonly delivers?: 'after the answer'
  /** What the framework does to requests before, or to answers after Sallyport, whatever that says: each with what is so. */
  readonly own?: Partial<Record<Peculiarity, string>>
}

/** Where frameworks differ in what a caller sees. */
export type Peculiarity =
  | 'redirects trailing slashes'
  | 'sends answers chunked'
  | 'completes the last answer of a connection only as that closes'
  | 'answers 500 to a malformed path'
  | 'drops the parameter __proto__'
  | 'hands over the first of two Authorization headers'

export const HOST_ANSWER = 'the host itself'

/** The status of the framework's own error handler. */
export const HOST_ERROR = 599

/** Starts a server on a free port of the loopback interface. */
export async function listen(
  listener: RequestListener | Server,
  errors: readonly unknown[] = [],
): Promise<RunningHost> {
  const server = typeof listener === 'function' ? createServer(listener) : listener
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return runningAt(server, errors)
}

/** A server that listens, as a {@link RunningHost}. */
export function runningAt(server: Server, errors: readonly unknown[], stop?: () => Promise<void>): RunningHost {
  const { port } = server.address() as AddressInfo
  const drain = stop ?? (() => new Promise<void>((resolve) => void server.close(() => resolve())))
  return {
    url: `http://127.0.0.1:${port}`,
    errors,
    drain,
    close() {
      const stopped = drain()
      server.closeAllConnections()
      return stopped
    },
  }
}
