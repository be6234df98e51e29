import type { Endpoints } from '../core/endpoints.ts'
import { closing, type Wire } from './answer.ts'
import type { NodeRequest, NodeResponse } from './node-messages.ts'

/**
 * Whether a connection is to end with the answer to this request, since the host stops: callers that are busy on it would keep the
 * server from closing. HTTP/2 forbids the header.
 */
function isLast(endpoints: Endpoints, { httpVersionMajor }: NodeRequest): boolean {
  return httpVersionMajor === 1 && endpoints.isStopping()
}

/** The answer, which ends its connection when the host stops. */
export function endingWith(endpoints: Endpoints, req: NodeRequest, wire: Wire): Wire {
  return isLast(endpoints, req) ? closing(wire) : wire
}

/** For a request that the host answers: has that end the connection, when the host stops. */
export function endWithHostAnswer(endpoints: Endpoints, req: NodeRequest, res: NodeResponse): void {
  if (!res.headersSent && isLast(endpoints, req)) res.setHeader('connection', 'close')
}

/** {@link endingWith} under fetch, where no request tells its version: a server drops the header over HTTP/2. */
export function endingWithFetched(endpoints: Endpoints, wire: Wire): Wire {
  return endpoints.isStopping() ? closing(wire) : wire
}

/** {@link endWithHostAnswer} under fetch. What has headers that cannot be changed, as the answer of a `fetch`, stays as it is. */
export function endWithHostResponse(endpoints: Endpoints, response: Response): Response {
  if (!endpoints.isStopping()) return response
  try {
    response.headers.set('connection', 'close')
  } catch {
    // Its connection ends with another answer, or with the server.
  }
  return response
}
