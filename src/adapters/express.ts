/**
 * Mounts Sallyport in Express 4 and 5.
 *
 * @module sallyport/express
 */
import { type Mountable, type MountOptions, mountOnce } from '../http/mount.ts'
import { answerNode, closeHostAnswer, type NodeRequest, type NodeResponse, sendAnswer } from '../http/node-bridge.ts'

export type { Mountable, MountOptions } from '../http/mount.ts'

/** What Express's `app.use` takes, with only the members that are used. */
export type ExpressHandler = (
  req: NodeRequest & { readonly body?: unknown },
  res: NodeResponse,
  next: (error?: unknown) => void,
) => void

/**
 * Mounts Sallyport on Express 5 or 4: `app.use(toExpress(sallyport))`, or below a path, `app.use('/v1', toExpress(sallyport))`.
 *
 * Mount it before `express.json()`: then the body is read once, with Sallyport's own limits. A body that a parser has already read is
 * used as it is. Requests for other paths go to `next()`.
 */
export function toExpress(sallyport: Mountable, options?: MountOptions): ExpressHandler {
  const { endpoints, match } = mountOnce('toExpress', sallyport, options)
  return (req, res, next) => {
    const target = match(req.url ?? '')
    if (!target) {
      closeHostAnswer(endpoints, req, res)
      return next()
    }
    answerNode(endpoints, target, req, () => req.body)
      .then((answer) => sendAnswer(req, res, answer, endpoints.clock))
      .catch(next)
  }
}
