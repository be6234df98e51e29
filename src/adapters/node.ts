import { endpointsOf, internalError, type Mountable, notFound } from '../http/answer.ts'
import { answerNode, type NodeRequest, type NodeResponse, send } from '../http/node-bridge.ts'
import { type MountOptions, matcher } from '../http/routes.ts'

export type { Mountable } from '../http/answer.ts'
export type { MountOptions } from '../http/routes.ts'

/** What `http.createServer` and Connect-style hosts take, described by what is used of it. */
export type NodeHandler = (
  req: NodeRequest & { readonly body?: unknown },
  res: NodeResponse,
  next?: (error?: unknown) => void,
) => Promise<void>

/**
 * Mounts Sallyport on a plain Node server: `http.createServer(toNode(sallyport))`.
 *
 * Requests for other paths go on to `next()` where the host passes one, and are answered with 404 where it does not. The
 * promise is kept once the answer is handed to the socket, or the caller has left.
 */
export function toNode(sallyport: Mountable, options?: MountOptions): NodeHandler {
  const endpoints = endpointsOf(sallyport)
  const match = matcher(options)
  return async (req, res, next) => {
    const target = match(req.url ?? '')
    if (!target) return next ? next() : send(res, notFound(endpoints))
    try {
      send(res, await answerNode(endpoints, target, req, () => req.body))
    } catch (error) {
      if (next) next(error)
      else send(res, internalError(endpoints, error))
    }
  }
}
