/**
 * Mounts Sallyport in Koa 2 and 3.
 *
 * @module sallyport/koa
 */
import { type Mountable, mountOnce } from '../http/mount.ts'
import { answerNode, type NodeRequest } from '../http/node-bridge.ts'
import type { MountOptions } from '../http/routes.ts'

export type { Mountable } from '../http/mount.ts'
export type { MountOptions } from '../http/routes.ts'

/** What is used of a Koa context. */
export interface KoaContext {
  readonly req: NodeRequest
  readonly request: { readonly method: string; readonly body?: unknown }
  status: number
  body: unknown
  set(headers: Record<string, string>): void
}

/** What Koa's `app.use` takes, described by what is used of it. */
export type KoaMiddleware = (ctx: KoaContext, next: () => Promise<unknown>) => Promise<void>

/**
 * Mounts Sallyport on Koa 3 or 2: `app.use(toKoa(sallyport))`.
 *
 * The answer is put on the context, so that middleware further out sees it as any other. Best before a body parser; a body
 * that one has read before is used as it is. Requests for other paths go on to `next()`.
 */
export function toKoa(sallyport: Mountable, options?: MountOptions): KoaMiddleware {
  const { endpoints, match } = mountOnce('toKoa', sallyport, options)
  return async (ctx, next) => {
    const target = match(ctx.req.url ?? '')
    if (!target) return void (await next())
    const { status, headers, text } = await answerNode(endpoints, target, ctx.req, () => ctx.request.body)
    ctx.status = status
    ctx.set({ ...headers })
    ctx.body = text
  }
}
