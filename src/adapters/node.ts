/**
 * Mounts Sallyport in `node:http`, Fastify, and Connect-style hosts.
 *
 * @module sallyport/node
 */
import { checkHandlerArguments } from '../http/handler-arguments.ts'
import { type Mountable, type MountOptions, mountOnce } from '../http/mount.ts'
import {
  answerNode,
  closeHostAnswer,
  isNodeResponse,
  type NodeRequest,
  type NodeResponse,
  nodeAnswer,
  sendAnswer,
} from '../http/node-bridge.ts'
import { internalError } from '../http/wire.ts'

export type { Mountable, MountOptions } from '../http/mount.ts'

/** Request handler for `http.createServer` and Connect-style hosts, typed by the members that it uses. */
export type NodeHandler = (
  req: NodeRequest & { readonly body?: unknown; readonly rawBody?: unknown },
  res: NodeResponse,
  next?: (error?: unknown) => void,
) => Promise<void>

const TAKES =
  "Node's (req, res): in Fastify, write handler(request.raw, reply.raw); a handler for Koa is toKoa(sallyport), for a Request toFetch(sallyport)"

/**
 * Mounts Sallyport: `http.createServer(toNode(sallyport))`. Requests for other paths go to `next()`, or without it get 404. The
 * promise resolves when the answer is passed to the socket, or the caller has disconnected.
 */
export function toNode(sallyport: Mountable, options?: MountOptions): NodeHandler {
  const { endpoints, match, notFound } = mountOnce('toNode', sallyport, options)
  return async (req, res, next) => {
    checkHandlerArguments('toNode', isNodeResponse(res), TAKES)
    const target = match(req.url ?? '', req.originalUrl)
    if (!target && next) {
      closeHostAnswer(endpoints, req, res)
      return next()
    }
    try {
      const answer = target
        ? await answerNode(endpoints, target, req, req)
        : nodeAnswer(endpoints, req, await notFound())
      sendAnswer(req, res, answer, endpoints.clock)
    } catch (error) {
      if (next) next(error)
      else sendAnswer(req, res, nodeAnswer(endpoints, req, internalError(endpoints, error)), endpoints.clock)
    }
  }
}
