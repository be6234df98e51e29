/**
 * Mounts Sallyport in Koa 2 and 3.
 *
 * @module sallyport/koa
 */
import { endWithHostAnswer } from '../http/connection-end.ts'
import { type Mountable, mountOnce } from '../http/mount.ts'
import { answerNode, sendAnswer } from '../http/node-bridge.ts'
import type { NodeRequest, NodeResponse } from '../http/node-messages.ts'
import type { MountOptions } from '../http/routes.ts'

export type { Mountable } from '../http/mount.ts'
export type { MountOptions } from '../http/routes.ts'

/** What is used of a Koa context. */
export interface KoaContext {
  readonly req: NodeRequest
  readonly res: NodeResponse
  readonly request: { readonly method: string; readonly body?: unknown }
  status: number
  body: unknown
  /** `false`: Koa leaves the answer to whoever wrote it. */
  respond?: boolean | undefined
  set(headers: Record<string, string>): void
}

/** What Koa's `app.use` takes, described by what is used of it. */
export type KoaMiddleware = (ctx: KoaContext, next: () => Promise<unknown>) => Promise<void>

/**
 * Mounts Sallyport on Koa 3 or 2: `app.use(toKoa(sallyport))`.
 *
 * The answer is put on the context, so that middleware further out sees it as any other; one to a request whose body is not taken is
 * also written at once, and its connection closes. Best before a body parser; a body
 * that one has read before is used as it is. Requests for other paths go on to `next()`.
 */
export function toKoa(sallyport: Mountable, options?: MountOptions): KoaMiddleware {
  const { endpoints, match } = mountOnce('toKoa', sallyport, options)
  return async (ctx, next) => {
    const target = match(ctx.req.url ?? '')
    if (!target) {
      endWithHostAnswer(endpoints, ctx.req, ctx.res)
      return void (await next())
    }
    const answer = await answerNode(endpoints, target, ctx.req, () => ctx.request.body)
    const { status, headers, text } = answer.wire
    ctx.status = status
    ctx.body = text
    ctx.set({ ...headers })
    if (!answer.isLast) return
    // Koa would end the connection with the answer, and so reset it while its body still comes.
    ctx.respond = false
    sendAnswer(ctx.req, ctx.res, answer, endpoints.clock)
  }
}
