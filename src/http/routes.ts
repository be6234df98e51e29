import type { OpenAction, Requested } from '../core/endpoints.ts'

export interface HttpRoute extends Requested {
  readonly method: 'POST'
  /** Relative to the base path. */
  readonly path: string
  readonly maxBytes: number
}

export const ROUTES: readonly HttpRoute[] = [
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

/** Route of an endpoint without a bearer token. */
export interface OpenRoute {
  readonly action: OpenAction
  readonly methods: readonly string[]
  /** Relative to the base path. One more part follows: the parameter. */
  readonly path: `/api/outbound/${OpenAction}/`
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

export type Target =
  | {
      readonly route: HttpRoute
      /** Query string, without its `?`. */
      readonly search: string
    }
  | OpenTarget
  /** JSON text of the OpenAPI document. */
  | { readonly document: string }

export interface OpenTarget {
  readonly open: OpenRoute
  /** Decoded. */
  readonly parameter: string
}
