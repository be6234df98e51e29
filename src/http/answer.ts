import type { Endpoints } from '../core/endpoints.ts'
import { type HandlerRequest, type HandlerResult, isRefused, refuse } from '../core/result.ts'
import { SallyportError } from '../errors.ts'
import type { HostBody } from './body-reader.ts'
import { checkContent } from './content-type.ts'
import { jsonOf } from './json-body.ts'
import { parseQuery, type Target } from './routes.ts'

/** What an adapter mounts: `createSallyport(…)` gives one. */
export interface Mountable {
  readonly endpoints: Endpoints
}

/** The endpoints of what is mounted; stops the mounting of anything else. */
export function endpointsOf(mountable: Mountable): Endpoints {
  const endpoints: Endpoints | undefined = mountable?.endpoints
  if (typeof endpoints?.handle === 'function') return endpoints
  throw new SallyportError('option_invalid', 'Mount what createSallyport(…) gave: this has no endpoints.')
}

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
 * Answers a request for one of the routes. The order is fixed: method, authentication, headers of the body, body; so a
 * caller who is not known learns nothing about bodies, and has none of it read.
 */
export async function answer(endpoints: Endpoints, target: Target, arrival: Arrival): Promise<Wire> {
  return toWire(await resultOf(endpoints, target, arrival))
}

/** The answer where there is no route. */
export function notFound(endpoints: Endpoints): Wire {
  return toWire(endpoints.refuse(refuse('not_found', 'No endpoint has this path.')))
}

/** The answer where something broke that never should: for transports that have nobody to pass an error to. */
export function internalError(endpoints: Endpoints, cause: unknown): Wire {
  return toWire(endpoints.refuse(refuse('internal_error', 'The request could not be handled.', { cause })))
}

async function resultOf(
  endpoints: Endpoints,
  { route, search }: Target,
  { method, headers, body }: Arrival,
): Promise<HandlerResult<unknown>> {
  if (method !== route.method) {
    const allow = { headers: { allow: route.method } }
    return endpoints.refuse(refuse('method_not_allowed', `Only ${route.method} is allowed here.`, allow))
  }
  const principal = await endpoints.authenticate(headers, route.operation)
  if (isRefused(principal)) return endpoints.refuse(principal)
  const unfit = checkContent(headers)
  if (unfit) return endpoints.refuse(unfit)
  const content = await jsonOf(body(), headers, route.maxBytes, endpoints.clock)
  if (isRefused(content)) return endpoints.refuse(content)
  return endpoints.handle(route.action, principal, {
    headers,
    body: content.json,
    ...(search !== '' && { query: parseQuery(search) }),
  })
}

function toWire({ ok, status, headers, body }: HandlerResult<unknown>): Wire {
  return {
    status,
    headers: {
      ...headers,
      'content-type': ok ? 'application/json' : 'application/problem+json',
      'cache-control': 'no-store',
    },
    text: JSON.stringify(body),
  }
}
