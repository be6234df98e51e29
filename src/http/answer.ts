import { type HandlerRequest, isRefused, type Refused } from '../core/answers/result.ts'
import type { ActionRoute, Endpoints } from '../core/endpoints.ts'
import type { Admission } from '../core/load/admission.ts'
import type { Caller, Holder } from '../core/load/fair-shares.ts'
import { overloaded } from '../core/load/load-limits.ts'
import { type Awaitable, andThen, isPromise } from '../model/awaitable.ts'
import { type Principal, rootIdOf } from '../model/principal.ts'
import type { HostBody, ReadOptions } from './body-reader.ts'
import { conditional } from './conditional.ts'
import { checkContent } from './content-headers.ts'
import { type Json, jsonOf } from './json-body.ts'
import { answerOpen } from './open-answer.ts'
import type { ActionTarget, Target } from './routes.ts'
import { JSON_TYPE, methodNotAllowed, notFound, toWire, type Wire } from './wire.ts'

/** A request, independent of its transport. */
export interface Arrival extends Caller {
  readonly method: string
  /** URL or path as the host received it. Used by open endpoints. */
  readonly url: string
  /** Names in lower case. */
  readonly headers: HandlerRequest['headers']
  /** Arguments of the host's framework, for a console. */
  readonly given: readonly unknown[]
  /** Called at most once, and only after the caller is authenticated. */
  body(): HostBody
}

/**
 * Answers a request. Order of checks: method, load, authentication, load of the principal, rate limits, body headers, body, revocation
 * while the body was awaited, place in flight.
 */
export async function answer(endpoints: Endpoints, target: Target, arrival: Arrival): Promise<Wire> {
  if (!('action' in target)) {
    return 'open' in target
      ? answerOpen(endpoints, target, arrival)
      : answerDocument(endpoints, target.document, arrival.method)
  }
  const { action, search, parameters } = target
  const { method, headers } = arrival
  const { load, clock } = endpoints
  const refused = (refusal: Refused, more?: Wire['headers']): Wire => toWire(endpoints.refuse(refusal), more)

  if (!action.run) return notFound(endpoints)
  if (!allows(action, method)) return refused(methodNotAllowed(action.method === 'GET' ? 'GET, HEAD' : action.method))
  if (load.flight.isFull()) return refused(overloaded())
  const authenticatedAt = clock.now()
  // Also lets Node's parser deliver a short body, which is then read without listeners.
  const admitted = await admit(endpoints, action, arrival)
  if (isRefused(admitted)) return refused(admitted)
  const { admission } = admitted
  const holder = holderOf(admitted.principal)
  const limits = admission?.headers

  const isBodiless = hasNoRequestBody(target, headers)
  const unsupported = isBodiless ? undefined : checkContent(headers)
  if (unsupported) return refused(unsupported, limits)
  const begin: ReadOptions['begin'] = (refuse) => load.bodies.begin(holder, refuse)
  const read = isBodiless ? NO_BODY : jsonOf(arrival.body(), headers, { maxBytes: action.maxBytes, clock, begin })
  // Most bodies are already complete and need no `await`.
  const isAwaited = read instanceof Promise
  const content = isAwaited ? await read : read
  if (isRefused(content)) return refused(content, limits)
  const principal = isAwaited
    ? await recheck(endpoints, action, arrival, admitted.principal, authenticatedAt)
    : admitted.principal
  if (isRefused(principal)) return refused(principal, limits)

  if (!action.waits && !load.flight.tryAcquire(holder, arrival)) return refused(overloaded(), limits)
  try {
    const body = content.json
    const sent = search === '' ? { headers, body } : { headers, body, query: parseQuery(search) }
    const request = parameters ? { ...sent, parameters } : sent
    const handled = await endpoints.handle(action, principal, request, { admission })
    const revoked = action.waits ? await endpoints.recheck(principal, action) : undefined
    if (revoked) return refused(revoked, limits)
    const wire = toWire(handled, limits)
    return action.method === 'GET' ? conditional(wire, headers) : wire
  } finally {
    load.flight.release(arrival)
  }
}

export function allows(action: ActionRoute, method: string): boolean {
  return method === action.method || (method === 'HEAD' && action.method === 'GET')
}

const NO_BODY: Json = { json: undefined }

/** True for a read, and for a `POST` without a body where the path says enough. */
function hasNoRequestBody({ action, parameters }: ActionTarget, headers: HandlerRequest['headers']): boolean {
  if (action.maxBytes === 0) return true
  if (!parameters || headers['content-type'] !== undefined) return false
  const length = headers['content-length']
  return (length === undefined || length === '0') && headers['transfer-encoding'] === undefined
}

/** Exchanged tokens share the places of the token that the host issued. */
function holderOf(principal: Principal): Holder {
  return { tenant: principal.tenant, id: rootIdOf(principal) }
}

interface Admitted {
  readonly principal: Principal
  readonly admission: Admission | undefined
}

/** Authenticates and admits a caller, who holds a place while that takes time. */
function admit(endpoints: Endpoints, action: ActionRoute, arrival: Arrival): Awaitable<Admitted | Refused> {
  const { callers } = endpoints.load
  const sent = { tenant: '', id: String(arrival.headers.authorization ?? '') }
  if (!callers.tryAcquire(sent, arrival)) return overloaded()
  let pending: Promise<Admitted | Refused> | undefined
  try {
    const authenticated = endpoints.authenticate(arrival.headers, action)
    const admitted = andThen(authenticated, (principal) => admitPrincipal(endpoints, action, principal))
    if (!isPromise(admitted)) return admitted
    pending = admitted.finally(() => callers.release(arrival))
    return pending
  } finally {
    if (!pending) callers.release(arrival)
  }
}

function admitPrincipal(
  endpoints: Endpoints,
  action: ActionRoute,
  principal: Principal | Refused,
): Awaitable<Admitted | Refused> {
  if (isRefused(principal)) return principal
  if (endpoints.load.flight.isFull(holderOf(principal))) return overloaded()
  if (!endpoints.admit) return { principal, admission: undefined }
  return andThen(endpoints.admit(principal, action), (admission) =>
    isRefused(admission) ? admission : { principal, admission },
  )
}

/** Age of an authentication at which the verifier is called again: a revocation takes effect within a second. */
const AUTHENTICATED_MS = 1_000

/** Refuses a caller whose token was revoked or has expired while its body was awaited. */
async function recheck(
  endpoints: Endpoints,
  action: ActionRoute,
  { headers }: Arrival,
  principal: Principal,
  authenticatedAt: number,
): Promise<Principal | Refused> {
  const age = endpoints.clock.now() - authenticatedAt
  if (age < 0 || age >= AUTHENTICATED_MS) return endpoints.authenticate(headers, action)
  return (await endpoints.recheck(principal, action)) ?? principal
}

export function parseQuery(search: string): Record<string, string | string[] | undefined> {
  const query: Record<string, string | string[] | undefined> = Object.create(null)
  for (const [name, value] of new URLSearchParams(search)) {
    const before = query[name]
    if (before === undefined) query[name] = value
    else if (typeof before === 'string') query[name] = [before, value]
    else before.push(value)
  }
  return query
}

function answerDocument(endpoints: Endpoints, document: string, method: string): Wire {
  if (method !== 'GET' && method !== 'HEAD') return toWire(endpoints.refuse(methodNotAllowed('GET, HEAD')))
  return { status: 200, headers: { 'content-type': JSON_TYPE, 'cache-control': 'no-cache' }, text: document }
}
