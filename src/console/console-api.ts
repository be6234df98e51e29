import { type HandlerRequest, type HandlerResult, type Refused, refuse } from '../core/answers/result.ts'
import type { ActionRoute, Endpoints, OpenAnswer, OpenRequest } from '../core/endpoints.ts'
import { allows, parseQuery } from '../http/answer.ts'
import { conditional } from '../http/conditional.ts'
import { checkContent } from '../http/content-headers.ts'
import { type Json, jsonOf } from '../http/json-body.ts'
import type { Mount } from '../http/mount.ts'
import { splitTarget } from '../http/request-target.ts'
import type { ActionTarget } from '../http/routes.ts'
import { methodNotAllowed, notFound, toWire, type Wire } from '../http/wire.ts'
import type { Awaitable } from '../model/awaitable.ts'
import type { Operation, Principal } from '../model/principal.ts'
import { callHost } from '../pages/call-host.ts'
import { isOfOtherPage } from '../pages/other-pages.ts'
import { answerCache } from './answer-cache.ts'
import { changeOf } from './console-change.ts'
import { asData } from './console-headers.ts'
import type { ConsoleOptions, Granted } from './console-options.ts'
import { redactAnswer } from './redact-answer.ts'

/** Header that a page of another site cannot send. */
const CONSOLE_HEADER = 'x-sallyport-console'

/** Calls the read API, and previews dispatches, for a request to which the host has granted access. */
export type ConsoleApi = (path: string, request: OpenRequest, granted: Granted) => Promise<OpenAnswer>

const ONLY_PREVIEWS = 'The console previews events and dispatches none.'

const OPERATIONS: readonly Operation[] = ['read', 'manage', 'dispatch']

export function otherPageRefused(): Refused {
  return refuse('insufficient_scope', 'The request must come from a page of this console.')
}

/** True for an action that a console offers, if the host does. */
export function isOffered({ operation, console = true }: ActionRoute): boolean {
  return console && (operation === 'read' || operation === 'manage')
}

export function consoleApi(
  endpoints: Endpoints,
  match: Mount['match'],
  { redact, onChange }: ConsoleOptions,
): ConsoleApi {
  const { clock } = endpoints
  const cache = answerCache(clock)

  /** The endpoint of a path, if the console offers it: the read API, and dry runs. */
  function targetOf(path: string, url: string): ActionTarget | undefined {
    const [, search] = splitTarget(url)
    const target = match(`${path}?${search}`)
    if (!target || !('action' in target) || !target.action.run) return undefined
    return isOffered(target.action) || target.action.name === 'dispatch' ? target : undefined
  }

  async function handled(
    { action, search, parameters }: ActionTarget,
    request: OpenRequest,
    granted: Granted,
  ): Promise<HandlerResult<unknown> | Refused> {
    const read = action.method === 'GET' ? { json: undefined } : await bodyOf(request, action, endpoints)
    if ('refused' in read) return read
    const query = parseQuery(search)
    if (action.name === 'dispatch') {
      if (query.dryRun !== undefined && query.dryRun !== 'true') return refuse('insufficient_scope', ONLY_PREVIEWS)
      query.dryRun = 'true'
    }
    const asked: HandlerRequest = { headers: {}, query, body: read.json, ...(parameters && { parameters }) }
    const principal: Principal = { id: 'console', tenant: granted.tenant, operations: OPERATIONS }
    const result = await endpoints.handle(action, principal, asked, { consoleUser: granted.user })
    const change = result.ok && onChange ? changeOf(action, granted, asked, result.body) : undefined
    if (change && onChange)
      await callHost(() => onChange(change, request.given[0], ...request.given.slice(1)), clock).catch(changeThrew)
    return result.ok && redact ? redacted(result, redact) : result
  }

  function changeThrew(cause: unknown): void {
    endpoints.report(cause, 'hook', { level: 'error', event: 'hook.threw', fields: { hook: 'onChange' } })
  }

  async function redacted(
    result: HandlerResult<unknown> & { readonly ok: true },
    redact: NonNullable<ConsoleOptions['redact']>,
  ): Promise<HandlerResult<unknown> | Refused> {
    try {
      return { ...result, body: await redactAnswer(result.body, redact, clock) }
    } catch (cause) {
      endpoints.report(cause, 'redactor', { level: 'error', event: 'console.redact_threw' })
      return refuse('internal_error', 'The answer could not be redacted, so it is not shown.')
    }
  }

  function wireOf(result: HandlerResult<unknown> | Refused): Wire {
    return toWire('refused' in result ? endpoints.refuse(result) : result)
  }

  return async (path, request, granted) => {
    const target = targetOf(path, request.url)
    if (!target) return asData(notFound(endpoints))
    const { action, search, parameters } = target
    const denied = deniedOf(action, request, granted)
    if (denied) return asData(wireOf(denied))
    const answer = async (): Promise<Wire> => wireOf(await handled(target, request, granted))
    if (action.method !== 'GET') return asData(await answer().finally(cache.clear))
    const key = JSON.stringify([granted.tenant, action.name, parameters, search])
    return asData(await conditional(await cache.get(key, answer), request.headers))
  }
}

/** A page of another site reads nothing, also where the host allows it by CORS; a POST must prove that it comes from the console. */
function deniedOf(action: ActionRoute, { method, headers }: OpenRequest, { access }: Granted): Refused | undefined {
  const isRead = action.method === 'GET'
  if (!allows(action, method)) return methodNotAllowed(isRead ? 'GET, HEAD' : action.method)
  const { 'sec-fetch-site': site, [CONSOLE_HEADER]: mark } = headers
  const isOwn = isRead ? !isOfOtherPage(headers) : site === 'same-origin' && mark === '1'
  if (!isOwn) return otherPageRefused()
  const unsupported = isRead ? undefined : checkContent(headers)
  if (unsupported) return unsupported
  if (action.operation === 'manage' && access !== 'operate')
    return refuse('insufficient_scope', 'This access may look at everything, but change nothing.')
  return undefined
}

function bodyOf({ body }: OpenRequest, { maxBytes }: ActionRoute, { clock }: Endpoints): Awaitable<Json | Refused> {
  if (body.byteLength === 0) return { json: undefined }
  // The bytes are complete: their budget was charged while they arrived.
  return jsonOf({ kind: 'left', value: body }, {}, { maxBytes, clock, begin: () => undefined })
}
