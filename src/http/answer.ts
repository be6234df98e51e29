import { type HandlerRequest, type HandlerResult, isRefused, type Refused, refuse } from '../core/answers/result.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { overloaded } from '../core/load/load-limits.ts'
import type { Caller } from '../core/load/semaphore.ts'
import type { Operation, Principal } from '../model/principal.ts'
import type { HostBody, ReadOptions } from './body-reader.ts'
import { checkContent } from './content-type.ts'
import { jsonOf } from './json-body.ts'
import { parseQuery, type Target } from './routes.ts'

/** A request as its transport brings it. */
export interface Arrival extends Caller {
  readonly method: string
  /** Names in lower case. */
  readonly headers: HandlerRequest['headers']
  /** Called at most once, and not before the caller is authenticated. */
  body(): HostBody
}

/** An answer as it goes over the wire, but for its Content-Length. */
export interface Wire {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/**
 * Answers a request for one of the routes. The order is fixed: method, room, authentication, limits, headers of the body, body; so a
 * caller who is not known learns nothing about bodies, and has none of it read. The place in flight is taken last, when the body is
 * complete: what never ends keeps nobody out.
 */
export async function answer(endpoints: Endpoints, target: Target, arrival: Arrival): Promise<Wire> {
  if ('document' in target) return describe(endpoints, target.document, arrival.method)
  const { route, search } = target
  const { method, headers } = arrival
  const { load, clock } = endpoints
  const refused = (refusal: Refused, more?: Wire['headers']): Wire => toWire(endpoints.refuse(refusal), more)

  if (endpoints.handles?.(route.action) === false) return notFound(endpoints)
  if (method !== route.method) return refused(notAllowed(route.method))
  if (load.flight.isFull()) return refused(overloaded())
  const admitted = await admit(endpoints, route.operation, arrival)
  if (isRefused(admitted)) return refused(admitted)
  const { principal, limits } = admitted

  const unfit = checkContent(headers)
  if (unfit) return refused(unfit, limits)
  const begin: ReadOptions['begin'] = (refuse) => load.bodies.begin(principal, refuse)
  // A body that is here already is read at once: most are.
  const read = jsonOf(arrival.body(), headers, { maxBytes: route.maxBytes, clock, begin })
  const content = read instanceof Promise ? await read : read
  if (isRefused(content)) return refused(content, limits)

  if (!load.flight.tryAcquire(arrival)) return refused(overloaded(), limits)
  try {
    const body = content.json
    const request = search === '' ? { headers, body } : { headers, body, query: parseQuery(search) }
    return toWire(await endpoints.handle(route.action, principal, request), limits)
  } finally {
    load.flight.release(arrival)
  }
}

/** A caller who is known, and the headers that say what is left of its limits. */
interface Admitted {
  readonly principal: Principal
  readonly limits: Wire['headers'] | undefined
}

async function admit(endpoints: Endpoints, operation: Operation, arrival: Arrival): Promise<Admitted | Refused> {
  const { callers } = endpoints.load
  if (!callers.tryAcquire(arrival)) return overloaded()
  try {
    const principal = await endpoints.authenticate(arrival.headers, operation)
    if (isRefused(principal)) return principal
    const limits = endpoints.admit && (await endpoints.admit(principal, operation))
    return isRefused(limits) ? limits : { principal, limits }
  } finally {
    callers.release(arrival)
  }
}

/** The document of the endpoints, to whoever asks for it. */
function describe(endpoints: Endpoints, document: string, method: string): Wire {
  if (method !== 'GET' && method !== 'HEAD') return toWire(endpoints.refuse(notAllowed('GET, HEAD')))
  return { status: 200, headers: { 'content-type': JSON_TYPE, 'cache-control': 'no-cache' }, text: document }
}

function notAllowed(allow: string): Refused {
  return refuse('method_not_allowed', `Only ${allow} is allowed here.`, { headers: { allow } })
}

/** The answer where there is no route. */
export function notFound(endpoints: Endpoints): Wire {
  return toWire(endpoints.refuse(refuse('not_found', 'No endpoint has this path.')))
}

/** The answer where something broke that never should: for transports that have nobody to pass an error to. */
export function internalError(endpoints: Endpoints, cause: unknown): Wire {
  return toWire(endpoints.refuse(refuse('internal_error', 'The request could not be handled.', { cause })))
}

/** The answer after which the connection is closed (RFC 9112 section 9.6). */
export function closing(wire: Wire): Wire {
  return { ...wire, headers: { ...wire.headers, connection: 'close' } }
}

const JSON_TYPE = 'application/json'

function toWire({ ok, status, headers, body }: HandlerResult<unknown>, more?: Wire['headers']): Wire {
  return {
    status,
    headers: {
      'content-type': ok ? JSON_TYPE : 'application/problem+json',
      'cache-control': 'no-store',
      ...more,
      ...headers,
    },
    text: JSON.stringify(body),
  }
}
