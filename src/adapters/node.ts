/**
 * Mounts Sallyport in `node:http`, Fastify, and anything Connect-style.
 *
 * @module sallyport/node
 */
import { internalError } from '../http/answer.ts'
import { endWithHostAnswer } from '../http/connection-end.ts'
import { type Mountable, mountOnce } from '../http/mount.ts'
import { answerNode, nodeAnswer, sendAnswer } from '../http/node-bridge.ts'
import type { NodeRequest, NodeResponse } from '../http/node-messages.ts'
import type { MountOptions } from '../http/routes.ts'

export type { Mountable } from '../http/mount.ts'
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
  const { endpoints, match, notFound } = mountOnce('toNode', sallyport, options)
  return async (req, res, next) => {
    const target = match(req.url ?? '')
    if (!target && next) {
      endWithHostAnswer(endpoints, req, res)
      return next()
    }
    try {
      const answer = target
        ? await answerNode(endpoints, target, req, () => req.body)
        : nodeAnswer(endpoints, req, await notFound())
      sendAnswer(req, res, answer, endpoints.clock)
    } catch (error) {
      if (next) next(error)
      else sendAnswer(req, res, nodeAnswer(endpoints, req, internalError(endpoints, error)), endpoints.clock)
    }
  }
}
