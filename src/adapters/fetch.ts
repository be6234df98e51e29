import { endpointsOf, type Mountable, notFound } from '../http/answer.ts'
import { answerFetch, toResponse } from '../http/fetch-bridge.ts'
import { type MountOptions, matcher } from '../http/routes.ts'

export type { Mountable } from '../http/answer.ts'
export type { MountOptions } from '../http/routes.ts'

/** Where Sallyport is mounted, and what answers the rest. */
export interface FetchOptions extends MountOptions {
  /** Answers requests for other paths, such as the host's own `app.fetch`; by default they get a 404 problem. */
  readonly notFound?: ((request: Request) => Response | Promise<Response>) | undefined
}

/**
 * Mounts Sallyport wherever a `Request` becomes a `Response`: Hono, h3, Next.js, Bun, Deno, Workers.
 * `app.mount('/v1', toFetch(sallyport))`, or `Deno.serve(toFetch(sallyport))`.
 *
 * The request must be unread.
 */
export function toFetch(sallyport: Mountable, options?: FetchOptions): (request: Request) => Promise<Response> {
  const endpoints = endpointsOf(sallyport)
  const match = matcher(options)
  return async (request) => {
    const target = match(request.url)
    if (target) return toResponse(await answerFetch(endpoints, target, request), request.method)
    return options?.notFound ? options.notFound(request) : toResponse(notFound(endpoints), request.method)
  }
}
