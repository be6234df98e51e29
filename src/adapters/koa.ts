/**
 * Mounts Sallyport in Koa 2 and 3.
 *
 * @module sallyport/koa
 */
import { checkHandlerArguments } from '../http/handler-arguments.ts'
import { type Mountable, type MountOptions, mountOnce } from '../http/mount.ts'
import {
  answerNode,
  closeHostAnswer,
  isNodeResponse,
  type NodeRequest,
  type NodeResponse,
  sendAnswer,
} from '../http/node-bridge.ts'

export type { Mountable, MountOptions } from '../http/mount.ts'

/** The members of a Koa context that are used. */
export interface KoaContext {
  readonly req: NodeRequest
  readonly res: NodeResponse
  readonly request: {
    readonly method: string
    readonly originalUrl?: string
    readonly body?: unknown
    readonly rawBody?: unknown
  }
  status: number
  body: unknown
  /** `false`: Koa does not send the answer itself. */
  respond?: boolean | undefined
  set(headers: Record<string, string>): void
}

/** Middleware for Koa's `app.use`, typed by the members that it uses. */
export type KoaMiddleware = (ctx: KoaContext, next: () => Promise<unknown>) => Promise<void>

const TAKES =
  '(ctx, next) of Koa: app.use(toKoa(sallyport)); a handler for Express is toExpress(sallyport), for node:http toNode(sallyport)'

/**
 * Mounts Sallyport: `app.use(toKoa(sallyport))`. Sets the answer on the context for outer middleware; after an incomplete body, it
 * writes the answer at once and closes the connection. Mount it before a body parser; a parsed body is used as it is. Requests for
 * other paths go to `next()`.
 */
export function toKoa(sallyport: Mountable, options?: MountOptions): KoaMiddleware {
  const { endpoints, match } = mountOnce('toKoa', sallyport, options)
  return async (ctx, next) => {
    checkHandlerArguments('toKoa', isNodeResponse(ctx?.res) && typeof next === 'function', TAKES)
    const target = match(ctx.req.url ?? '', ctx.request.originalUrl)
    if (!target) {
      closeHostAnswer(endpoints, ctx.req, ctx.res)
      return void (await next())
    }
    const answer = await answerNode(endpoints, target, ctx.req, ctx.request, ctx)
    const { status, headers, text } = answer.wire
    ctx.status = status
    ctx.body = text
    ctx.set({ ...headers })
    if (!answer.isLast) return
    // Koa would end the connection with the answer, and reset it while the body still arrives.
    ctx.respond = false
    sendAnswer(ctx.req, ctx.res, answer, endpoints.clock)
  }
}
