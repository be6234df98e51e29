import type { Action, OpenAction, ReadAction, Requested } from '../core/endpoints.ts'

export interface HttpRoute extends Requested {
  readonly method: 'GET' | 'POST'
  /** Relative to the base path. `{name}` stands for one part, a parameter. */
  readonly path: string
  /** Limit of the body. 0: no body is read. */
  readonly maxBytes: number
}

/** Route of an endpoint that takes a body. */
export interface PostRoute extends HttpRoute {
  readonly action: Action
  readonly method: 'POST'
}

export const ROUTES: readonly PostRoute[] = [
  {
    action: 'dispatch',
    operation: 'dispatch',
    method: 'POST',
    path: '/api/outbound/dispatch',
    maxBytes: 262_144,
  },
  {
    action: 'session_run',
    operation: 'session_run',
    method: 'POST',
    path: '/api/agents/session/run',
    maxBytes: 65_536,
  },
  {
    action: 'session_run_batch',
    operation: 'session_run',
    method: 'POST',
    path: '/api/agents/session/run/batch',
    maxBytes: 262_144,
  },
  {
    action: 'session_token',
    operation: 'session_run',
    method: 'POST',
    path: '/api/agents/session/token',
    maxBytes: 65_536,
  },
]

/** Route of the read API. */
export interface ReadRoute extends HttpRoute {
  readonly action: ReadAction
}

function read(action: ReadAction, path: string): ReadRoute {
  return { action, operation: 'read', method: 'GET', path, maxBytes: 0 }
}

const CHANGE = { operation: 'manage', method: 'POST', maxBytes: 4_096 } as const

const DISPATCHES = '/api/outbound/dispatches'
const SUPPRESSIONS = '/api/outbound/suppressions'
const SESSIONS = '/api/agents/sessions'

export const READ_ROUTES: readonly ReadRoute[] = [
  read('list_dispatches', DISPATCHES),
  read('get_dispatch', `${DISPATCHES}/{dispatchId}`),
  { action: 'cancel_dispatch', path: `${DISPATCHES}/{dispatchId}/cancel`, ...CHANGE },
  { action: 'retry_dispatch', path: `${DISPATCHES}/{dispatchId}/retry`, ...CHANGE },
  // An address in a query string would be in access logs.
  { action: 'find_recipient', path: '/api/outbound/recipients/find', ...CHANGE, operation: 'read' },
  read('list_suppressions', SUPPRESSIONS),
  { action: 'find_suppressions', path: `${SUPPRESSIONS}/find`, ...CHANGE, operation: 'read' },
  { action: 'add_suppression', path: `${SUPPRESSIONS}/add`, ...CHANGE },
  { action: 'remove_suppressions', path: `${SUPPRESSIONS}/remove`, ...CHANGE },
  read('list_sessions', SESSIONS),
  read('get_session', `${SESSIONS}/{sessionId}`),
  read('session_timeline', `${SESSIONS}/{sessionId}/timeline`),
  read('session_runs', `${SESSIONS}/{sessionId}/runs`),
  read('get_run', `${SESSIONS}/{sessionId}/runs/{runId}`),
  read('list_runs', '/api/agents/runs'),
  read('list_token_uses', '/api/agents/tokens/uses'),
  read('get_statistics', '/api/outbound/stats'),
  read('list_events', '/api/outbound/events'),
  read('check_budgets', '/api/agents/budgets'),
]

/** A route with parameters in its path. */
export interface Template {
  readonly route: ReadRoute
  /** The path before its first parameter. */
  readonly start: string
}

export const READ_TEMPLATES: readonly Template[] = /* @__PURE__ */ READ_ROUTES.flatMap((route) => {
  const [start = '', ...parameters] = route.path.split('{')
  return parameters.length > 0 ? [{ route, start }] : []
})

/** Routes whose path is always the same. */
export const FIXED_ROUTES: readonly HttpRoute[] = /* @__PURE__ */ [
  ...ROUTES,
  ...READ_ROUTES.filter(({ path }) => !path.includes('{')),
]

/** Finds the parameters of a path; `undefined`: the route has another path. */
export function parametersIn({ route, start }: Template, path: string): Readonly<Record<string, string>> | undefined {
  if (!path.startsWith(start)) return undefined
  const names = route.path.split('/')
  const parts = path.split('/')
  if (names.length !== parts.length) return undefined
  const parameters: Record<string, string> = {}
  for (const [at, name] of names.entries()) {
    const part = parts[at] ?? ''
    if (!name.startsWith('{')) {
      if (name !== part) return undefined
      continue
    }
    const value = parameterOf(part)
    if (value === undefined) return undefined
    parameters[name.slice(1, -1)] = value
  }
  return parameters
}

/** Route of an endpoint without a bearer token. */
export interface OpenRoute {
  readonly action: OpenAction
  readonly methods: readonly string[]
  /** Relative to the base path. One more part follows: the parameter. */
  readonly path: string
  /** Name of the parameter, for log lines. */
  readonly parameter: string
  readonly maxBytes: number
}

export const OPEN_ROUTES: readonly OpenRoute[] = [
  {
    action: 'feedback',
    methods: ['POST'],
    path: '/api/outbound/feedback/',
    parameter: '{name}',
    maxBytes: 1_048_576,
  },
  {
    action: 'unsubscribe',
    methods: ['GET', 'HEAD', 'POST'],
    path: '/api/outbound/unsubscribe/',
    parameter: '{token}',
    maxBytes: 65_536,
  },
]

/** Everything below the base path of a console; its parameter is the path. It answers all methods itself. */
export const CONSOLE_ROUTE: OpenRoute = {
  action: 'console',
  methods: [],
  path: '/',
  parameter: '{path}',
  maxBytes: 262_144,
}

const MAX_PARAMETER = 2_048

/** Decodes the parameter of an open route. `undefined`: no parameter, more than one part, too long, or a malformed escape. */
export function parameterOf(encoded: string): string | undefined {
  if (encoded === '' || encoded.length > MAX_PARAMETER || encoded.includes('/')) return undefined
  try {
    return decodeURIComponent(encoded)
  } catch {
    return undefined
  }
}

/** Path of the OpenAPI document, if a mount serves one. */
export const DOCUMENT_PATH = '/api/outbound/openapi.json'

export interface RouteTarget {
  readonly route: HttpRoute
  /** Query string, without its `?`. */
  readonly search: string
  /** Parameters of the path, decoded. Absent: the path has none. */
  readonly parameters?: Readonly<Record<string, string>>
}

export type Target =
  | RouteTarget
  | OpenTarget
  /** JSON text of the OpenAPI document. */
  | { readonly document: string }

export interface OpenTarget {
  readonly open: OpenRoute
  /** Decoded. */
  readonly parameter: string
}
