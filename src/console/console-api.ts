import { type HandlerRequest, type Refused, refuse } from '../core/answers/result.ts'
import type { Endpoints, OpenAnswer, OpenRequest } from '../core/endpoints.ts'
import { allows, parseQuery } from '../http/answer.ts'
import { conditional } from '../http/conditional.ts'
import { type Json, jsonOf } from '../http/json-body.ts'
import type { Mount } from '../http/mount.ts'
import { splitTarget } from '../http/request-target.ts'
import type { RouteTarget } from '../http/routes.ts'
import { methodNotAllowed, notFound, toWire } from '../http/wire.ts'
import type { Awaitable } from '../model/awaitable.ts'
import type { Operation, Principal } from '../model/principal.ts'
import { DATA_HEADERS } from './console-headers.ts'
import type { ConsoleLevel, ConsoleOptions, Granted } from './console-options.ts'
import { redactAnswer } from './redact-answer.ts'

/** Header that a page of another site cannot send. */
const CONSOLE_HEADER = 'x-sallyport-console'

/** Calls the read API, and previews dispatches, for a request that the host has let in. */
export type ConsoleApi = (path: string, request: OpenRequest, access: Granted) => Promise<OpenAnswer>

const OPERATIONS: readonly Operation[] = ['read', 'manage', 'dispatch']

export function consoleApi(endpoints: Endpoints, match: Mount['match'], { redact }: ConsoleOptions): ConsoleApi {
  const refused = (refusal: Refused): OpenAnswer => withData(toWire(endpoints.refuse(refusal)))

  /** The endpoint of a path, if the console offers it: the read API, and dry runs. */
  function targetOf(path: string, url: string): RouteTarget | undefined {
    const [, search] = splitTarget(url)
    const target = match(`${path}?${search}`)
    if (!target || !('route' in target) || endpoints.handles?.(target.route.action) === false) return undefined
    const { operation, action } = target.route
    return operation === 'read' || operation === 'manage' || action === 'dispatch' ? target : undefined
  }

  return async (path, request, { access, tenant }) => {
    const { method, headers } = request
    const target = targetOf(path, request.url)
    if (!target) return notFound(endpoints)
    const { route, search, parameters } = target
    const isRead = route.method === 'GET'
    if (!allows(route, method)) return refused(methodNotAllowed(isRead ? 'GET, HEAD' : route.method))
    const denied = isRead ? undefined : deniedPost(request, route.operation, access)
    if (denied) return refused(denied)

    const json = isRead ? { json: undefined } : await bodyOf(request, endpoints)
    if ('refused' in json) return refused(json)
    const isDryRun = route.action === 'dispatch'
    const query = isDryRun ? { dryRun: 'true' } : parseQuery(search)
    const asked: HandlerRequest = { headers: {}, query, body: json.json, ...(parameters && { parameters }) }
    const principal: Principal = { id: 'console', tenant, operations: OPERATIONS }
    const result = await endpoints.handle(route.action, principal, asked)
    if (!result.ok || !redact) return finished(toWire(result), isRead, headers)
    try {
      return await finished(toWire({ ...result, body: redactAnswer(result.body, redact) }), isRead, headers)
    } catch (cause) {
      endpoints.report(cause, 'redactor', { level: 'error', event: 'console.redact_threw' })
      return refused(refuse('internal_error', 'The answer could not be redacted, so it is not shown.'))
    }
  }
}

async function finished(wire: OpenAnswer, isRead: boolean, headers: HandlerRequest['headers']): Promise<OpenAnswer> {
  return withData(isRead ? await conditional(wire, headers) : wire)
}

function withData(wire: OpenAnswer): OpenAnswer {
  return { ...wire, headers: { ...wire.headers, ...DATA_HEADERS } }
}

/** A POST must come from a page of this console, and a change needs `operate`. */
function deniedPost({ headers }: OpenRequest, operation: Operation, access: ConsoleLevel): Refused | undefined {
  if (headers['sec-fetch-site'] !== 'same-origin' || headers[CONSOLE_HEADER] !== '1')
    return refuse('insufficient_scope', 'A POST must come from a page of this console.')
  if (operation === 'manage' && access !== 'operate')
    return refuse('insufficient_scope', 'This access may look at everything, but change nothing.')
  return undefined
}

function bodyOf({ body }: OpenRequest, { clock }: Endpoints): Awaitable<Json | Refused> {
  if (body.byteLength === 0) return { json: undefined }
  // The bytes are complete: their budget was charged while they arrived.
  return jsonOf({ kind: 'left', value: body }, {}, { maxBytes: body.byteLength, clock, begin: () => undefined })
}
