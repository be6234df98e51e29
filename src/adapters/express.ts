/**
 * Mounts Sallyport in Express 4 and 5.
 *
 * @module sallyport/express
 */
import { endWithHostAnswer } from '../http/connection-end.ts'
import { type Mountable, mountOnce } from '../http/mount.ts'
import { answerNode, sendAnswer } from '../http/node-bridge.ts'
import type { NodeRequest, NodeResponse } from '../http/node-messages.ts'
import type { MountOptions } from '../http/routes.ts'

export type { Mountable } from '../http/mount.ts'
export type { MountOptions } from '../http/routes.ts'

/** What Express's `app.use` takes, described by what is used of it. */
export type ExpressHandler = (
  req: NodeRequest & { readonly body?: unknown },
  res: NodeResponse,
  next: (error?: unknown) => void,
) => void

/**
 * Mounts Sallyport on Express 5 or 4: `app.use(toExpress(sallyport))`, or below a path, `app.use('/v1', toExpress(sallyport))`.
 *
 * Best before `express.json()`, so that the body is read once, with Sallyport's own limits; a body that a parser has read
 * before is used as it is. Requests for other paths go on to `next()`.
 */
export function toExpress(sallyport: Mountable, options?: MountOptions): ExpressHandler {
  const { endpoints, match } = mountOnce('toExpress', sallyport, options)
  return (req, res, next) => {
    const target = match(req.url ?? '')
    if (!target) {
      endWithHostAnswer(endpoints, req, res)
      return next()
    }
    answerNode(endpoints, target, req, () => req.body)
      .then((answer) => sendAnswer(req, res, answer, endpoints.clock))
      .catch(next)
  }
}
