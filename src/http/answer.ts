import { type HandlerRequest, type HandlerResult, isRefused, type Refused, refuse } from '../core/answers/result.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { overloaded } from '../core/load/load-limits.ts'
import type { Caller } from '../core/load/semaphore.ts'
import type { Operation, Principal } from '../model/principal.ts'
import type { HostBody, ReadOptions } from './body-reader.ts'
import { jsonOf } from './json-body.ts'
import type { Target } from './routes.ts'

/** A request, independent of its transport. */
export interface Arrival extends Caller {
  readonly method: string
  /** Names in lower case. */
  readonly headers: HandlerRequest['headers']
  /** Called at most once, and only after the caller is authenticated. */
  body(): HostBody
}

/** An answer as it is sent, without its Content-Length. */
export interface Wire {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/**
 * Answers a request for one of the routes. The order of checks is fixed: method, load, authentication, rate limits, headers of the body,
 * body. An unauthenticated caller learns nothing about bodies, and no body of theirs is read. A place in flight is taken last, when the
 * body is complete: unfinished requests block nobody.
 */
export async function answer(endpoints: Endpoints, target: Target, arrival: Arrival): Promise<Wire> {
  if ('document' in target) return answerDocument(endpoints, target.document, arrival.method)
  const { route, search } = target
  const { method, headers } = arrival
  const { load, clock } = endpoints
  const refused = (refusal: Refused, more?: Wire['headers']): Wire => toWire(endpoints.refuse(refusal), more)

  if (endpoints.handles?.(route.action) === false) return notFound(endpoints)
  if (method !== route.method) return refused(methodNotAllowed(route.method))
  if (load.flight.isFull()) return refused(overloaded())
  const admitted = await admit(endpoints, route.operation, arrival)
  if (isRefused(admitted)) return refused(admitted)
  const { principal, limits } = admitted

  const unsupported = checkContent(headers)
  if (unsupported) return refused(unsupported, limits)
  const begin: ReadOptions['begin'] = (refuse) => load.bodies.begin(principal, refuse)
  const read = jsonOf(arrival.body(), headers, { maxBytes: route.maxBytes, clock, begin })
  // Most bodies are already complete: no `await` then.
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

/** An authenticated caller, and the rate-limit headers of its answer. */
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

const JSON_TYPE = 'application/json'

/** Refuses a body that is not declared as plain JSON in UTF-8: 415, and `Accept` or `Accept-Encoding` names what is supported. */
export function checkContent(headers: HandlerRequest['headers']): Refused | undefined {
  const type = headers['content-type']
  if (type !== JSON_TYPE && !(typeof type === 'string' && isJson(type))) {
    return refuse('unsupported_media_type', 'Send the body as application/json, in UTF-8.', {
      headers: { accept: JSON_TYPE },
    })
  }
  const encoding = headers['content-encoding']
  if (encoding === undefined || (typeof encoding === 'string' && /^(?:identity)?$/i.test(encoding.trim()))) return
  return refuse('unsupported_media_type', 'Send the body as it is: no Content-Encoding is taken.', {
    headers: { 'accept-encoding': 'identity' },
  })
}

/** Ignores parameters other than `charset`: RFC 8259 defines none. */
function isJson(type: string): boolean {
  const [essence = '', ...parameters] = type.toLowerCase().split(';')
  return essence.trim() === JSON_TYPE && parameters.every(isUtf8OrIgnored)
}

function isUtf8OrIgnored(parameter: string): boolean {
  const [name = '', value = ''] = parameter.split('=', 2)
  return name.trim() !== 'charset' || ['utf-8', 'utf8', '"utf-8"', '"utf8"'].includes(value.trim())
}

/** The parameters of a query string; the value of a repeated name is a list. */
export function parseQuery(search: string): NonNullable<HandlerRequest['query']> {
  const query: Record<string, string | string[] | undefined> = Object.create(null)
  for (const [name, value] of new URLSearchParams(search)) {
    const before = query[name]
    if (before === undefined) query[name] = value
    else if (typeof before === 'string') query[name] = [before, value]
    else before.push(value)
  }
  return query
}

/** Sends the OpenAPI document, without authentication. */
function answerDocument(endpoints: Endpoints, document: string, method: string): Wire {
  if (method !== 'GET' && method !== 'HEAD') return toWire(endpoints.refuse(methodNotAllowed('GET, HEAD')))
  return { status: 200, headers: { 'content-type': JSON_TYPE, 'cache-control': 'no-cache' }, text: document }
}

function methodNotAllowed(allow: string): Refused {
  return refuse('method_not_allowed', `Only ${allow} is allowed here.`, { headers: { allow } })
}

/** The answer for a path that has no route. */
export function notFound(endpoints: Endpoints): Wire {
  return toWire(endpoints.refuse(refuse('not_found', 'No endpoint has this path.')))
}

/** The answer for an unexpected error, in transports without an error handler. */
export function internalError(endpoints: Endpoints, cause: unknown): Wire {
  return toWire(endpoints.refuse(refuse('internal_error', 'The request could not be handled.', { cause })))
}

/** The same answer with `Connection: close` (RFC 9112 section 9.6). */
export function closing(wire: Wire): Wire {
  return { ...wire, headers: { ...wire.headers, connection: 'close' } }
}

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
