/**
 * Mounts Sallyport in any host that takes a `Request`: Hono, h3, itty-router, Next.js, Bun, Deno, workers.
 *
 * @module sallyport/fetch
 */
import {
  answerFetch,
  closeHostResponse,
  closeIfStopping,
  deliverAfter,
  isFetchRequest,
  toResponse,
  type WaitUntil,
  waitUntilOf,
} from '../http/fetch-bridge.ts'
import { checkHandlerArguments } from '../http/handler-arguments.ts'
import { MOUNT_CHECKS, type Mountable, type MountOptions, mount } from '../http/mount.ts'
import { fn } from '../options/checks.ts'
import type { Checks } from '../options/read-options.ts'

export type { WaitUntil } from '../http/fetch-bridge.ts'
export type { Mountable, MountOptions } from '../http/mount.ts'

/** Options of {@link toFetch}. */
export interface FetchOptions extends MountOptions {
  /** Answers requests for other paths, such as the host's own `app.fetch`. Default: a 404 problem. */
  readonly notFound?: ((request: Request) => Response | Promise<Response>) | undefined
  /**
   * Keeps the runtime alive after the answer to deliver accepted events: Vercel's `waitUntil`, Next's `after`. Default: `waitUntil`
   * of the last argument, as in Workers-like runtimes. Without either, a worker or a cron job delivers.
   */
  readonly waitUntil?: WaitUntil | undefined
}

const CHECKS: Checks<FetchOptions> = { ...MOUNT_CHECKS, notFound: fn, waitUntil: fn }

const TAKES =
  "a Request: in Hono, write app.all('/api/*', (c) => handler(c.req.raw)) with const handler = toFetch(sallyport)"

/** Mounts Sallyport: `app.mount('/v1', toFetch(sallyport))`, `Deno.serve(toFetch(sallyport))`. The request must be unread. */
export function toFetch(
  sallyport: Mountable,
  options: FetchOptions = {},
): (request: Request, ...context: readonly unknown[]) => Promise<Response> {
  const { endpoints, match, notFound, options: own } = mount('toFetch', sallyport, options, CHECKS)
  return async (request, ...context) => {
    checkHandlerArguments('toFetch', isFetchRequest(request), TAKES)
    const target = match(request.url)
    if (target) {
      const answer = await answerFetch(endpoints, target, request, context)
      deliverAfter(answer.wire, endpoints, own.waitUntil ?? waitUntilOf(context.at(-1)))
      return toResponse(answer, request.method)
    }
    if (own.notFound) return closeHostResponse(endpoints, await own.notFound(request))
    return toResponse({ wire: closeIfStopping(endpoints, notFound()) }, request.method)
  }
}
