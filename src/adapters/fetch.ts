/**
 * Mounts Sallyport in anything that takes a `Request`: Hono, h3, itty-router, Next.js, Bun, Deno, workers.
 *
 * @module sallyport/fetch
 */
import { endingWithFetched, endWithHostResponse } from '../http/connection-end.ts'
import { answerFetch, deliverAfter, toResponse, type WaitUntil, waitUntilOf } from '../http/fetch-bridge.ts'
import { type Mountable, mount } from '../http/mount.ts'
import { MOUNT_CHECKS, type MountOptions } from '../http/routes.ts'
import { fn } from '../options/checks.ts'
import type { Checks } from '../options/read-options.ts'

export type { WaitUntil } from '../http/fetch-bridge.ts'
export type { Mountable } from '../http/mount.ts'
export type { MountOptions } from '../http/routes.ts'

/** Where Sallyport is mounted, and what answers the rest. */
export interface FetchOptions extends MountOptions {
  /** Answers requests for other paths, such as the host's own `app.fetch`; by default they get a 404 problem. */
  readonly notFound?: ((request: Request) => Response | Promise<Response>) | undefined
  /**
   * Keeps the runtime going after the answer, so that what was accepted is delivered: Vercel's `waitUntil`, Next's `after`.
   * Default: that of the context which Workers-like runtimes pass as the last argument, when they do. Without either, a
   * worker or cron delivers.
   */
  readonly waitUntil?: WaitUntil | undefined
}

const CHECKS: Checks<FetchOptions> = { ...MOUNT_CHECKS, notFound: fn, waitUntil: fn }

/**
 * Mounts Sallyport wherever a `Request` becomes a `Response`: Hono, h3, Next.js, Bun, Deno, Workers.
 * `app.mount('/v1', toFetch(sallyport))`, `Deno.serve(toFetch(sallyport))`, or `export default { fetch: toFetch(sallyport) }`.
 *
 * The request must be unread.
 */
export function toFetch(
  sallyport: Mountable,
  options: FetchOptions = {},
): (request: Request, ...context: readonly unknown[]) => Promise<Response> {
  const { endpoints, match, notFound, options: own } = mount('toFetch', sallyport, options, CHECKS)
  return async (request, ...context) => {
    const target = match(request.url)
    if (target) {
      const answer = await answerFetch(endpoints, target, request)
      deliverAfter(answer.wire, endpoints, own.waitUntil ?? waitUntilOf(context.at(-1)))
      return toResponse(answer, request.method)
    }
    if (own.notFound) return endWithHostResponse(endpoints, await own.notFound(request))
    return toResponse({ wire: endingWithFetched(endpoints, notFound()) }, request.method)
  }
}
