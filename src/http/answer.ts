import { overloaded } from '../core/admission.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { type HandlerRequest, type HandlerResult, isRefused, type Refused, refuse } from '../core/result.ts'
import type { HostBody } from './body-reader.ts'
import { checkContent } from './content-type.ts'
import { jsonOf } from './json-body.ts'
import { parseQuery, type Target } from './routes.ts'

/** A request as its transport brings it. */
export interface Arrival {
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
 * Answers a request for one of the routes. The order is fixed: room, method, authentication, limits, headers of the body, body; so a
 * caller who is not known learns nothing about bodies, and has none of it read.
 */
export async function answer(endpoints: Endpoints, target: Target, arrival: Arrival): Promise<Wire> {
  if ('document' in target) return describe(endpoints, target.document, arrival.method)
  if (!endpoints.gate.enter()) return toWire(endpoints.refuse(overloaded()))
  try {
    return await answerAt(endpoints, target, arrival)
  } finally {
    endpoints.gate.leave()
  }
}

async function answerAt(
  endpoints: Endpoints,
  { route, search }: Extract<Target, { readonly search: string }>,
  arrival: Arrival,
): Promise<Wire> {
  const { method, headers } = arrival
  if (method !== route.method) return toWire(endpoints.refuse(notAllowed(route.method)))
  const principal = await endpoints.authenticate(headers, route.operation)
  if (isRefused(principal)) return toWire(endpoints.refuse(principal))
  const limits = endpoints.admit && (await endpoints.admit(principal, route.operation))
  if (isRefused(limits)) return toWire(endpoints.refuse(limits))
  const unfit = checkContent(headers)
  if (unfit) return toWire(endpoints.refuse(unfit), limits)
  // A body that is here already is read at once: most are.
  const read = jsonOf(arrival.body(), headers, route.maxBytes, endpoints.clock)
  const content = read instanceof Promise ? await read : read
  if (isRefused(content)) return toWire(endpoints.refuse(content), limits)
  return toWire(
    await endpoints.handle(
      route.action,
      principal,
      search === '' ? { headers, body: content.json } : { headers, body: content.json, query: parseQuery(search) },
    ),
    limits,
  )
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
