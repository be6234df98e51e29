import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Mountable } from '../../../src/adapters/node.ts'

export interface HostOptions {
  readonly basePath?: string
  /**
   * Mounts below this path with the framework's own mounting, which strips the prefix. Only if {@link Host.mounts} says so.
   */
  readonly mountPath?: '/v1' | '/api'
  /** The host parses JSON bodies before Sallyport sees them; under fetch it reads a copy. */
  readonly parser?: boolean
}

export interface RunningHost {
  /** The origin: scheme, address and port. */
  readonly url: string
  /** Errors that reached the framework's error handler, which answers 599. */
  readonly errors: readonly unknown[]
  /** Stops like a deploy: accepts nothing new, and resolves when all requests in flight are answered. */
  drain(): Promise<void>
  /** Stops at once. */
  close(): Promise<void>
}

/**
 * A server of a framework with Sallyport mounted. It answers a JSON post to `/own/json` with `{ own: … }`, and every
 * other path with 200 and {@link HOST_ANSWER}.
 */
export interface Host {
  readonly name: string
  start(sallyport: Mountable, options?: HostOptions): Promise<RunningHost>
  /** Runs once before any start; returns its undo function. */
  readonly prepare?: () => Promise<() => Promise<void>>
  /** `strips`: the framework can mount below a path and strips it. Otherwise: the reason why not. */
  readonly mounts: 'strips' | { readonly whole: string }
  /**
   * The component that answers an unexpected error: the framework's error handler, or Sallyport for the given reason.
   */
  readonly errors: 'framework' | { readonly sallyport: string }
  /** Whether a host may read the body first. Otherwise: the reason why not. */
  readonly parser: 'first' | { readonly none: string }
  /** Whether the host keeps running after an answer to deliver. Otherwise a worker delivers. */
  readonly delivers?: 'after the answer'
  /** Changes that the framework makes to requests or answers, each with its explanation. */
  readonly own?: Partial<Record<Peculiarity, string>>
}

/** Visible differences between frameworks. */
export type Peculiarity =
  | 'redirects trailing slashes'
  | 'sends answers chunked'
  | 'completes the last answer of a connection only as that closes'
  | 'answers 500 to a malformed path'
  | 'drops the parameter __proto__'
  | 'hands over the first of two Authorization headers'
  | 'hands over no prefix of a mount'

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

/** Makes a {@link RunningHost} of a listening server. */
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
