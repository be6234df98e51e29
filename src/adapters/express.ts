/**
 * Mounts Sallyport in Express 4 and 5.
 *
 * @module sallyport/express
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

/** Middleware for Express's `app.use`, typed by the members that it uses. */
export type ExpressHandler = (
  req: NodeRequest & { readonly body?: unknown; readonly rawBody?: unknown },
  res: NodeResponse,
  next: (error?: unknown) => void,
) => void

const TAKES =
  '(req, res, next) of Express: app.use(toExpress(sallyport)); a handler for Koa is toKoa(sallyport), for node:http toNode(sallyport)'

/**
 * Mounts Sallyport: `app.use(toExpress(sallyport))`, also under a path. Mount it before `express.json()`, so that Sallyport's
 * limits apply; a parsed body is used as it is. Requests for other paths go to `next()`.
 */
export function toExpress(sallyport: Mountable, options?: MountOptions): ExpressHandler {
  const { endpoints, match } = mountOnce('toExpress', sallyport, options)
  return (req, res, next) => {
    checkHandlerArguments('toExpress', isNodeResponse(res) && typeof next === 'function', TAKES)
    const target = match(req.url ?? '', req.originalUrl)
    if (!target) {
      closeHostAnswer(endpoints, req, res)
      return next()
    }
    answerNode(endpoints, target, req, req)
      .then((answer) => sendAnswer(req, res, answer, endpoints.clock))
      .catch(next)
  }
}

/**
 * Keeps the exact bytes of a body that Express parses: `express.json({ verify: keepRawBody })`, for a parser that runs before
 * Sallyport. Feedback of providers is proven by its bytes. Keeps them as `req.rawBody`, only for paths with `/api/outbound/`; such a
 * request holds its body twice while it is handled.
 */
export function keepRawBody(
  req: { readonly url?: string | undefined; readonly originalUrl?: string | undefined; rawBody?: unknown },
  _res: unknown,
  bytes: Uint8Array,
): void {
  const url = req.originalUrl ?? req.url
  if (url === undefined || url.includes('/api/outbound/')) req.rawBody = bytes
}
