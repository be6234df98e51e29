import type { Requested } from '../core/endpoints.ts'

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

/** Path of the OpenAPI document, if a mount serves one. */
export const DOCUMENT_PATH = '/api/outbound/openapi.json'

export type Target =
  | {
      readonly route: HttpRoute
      /** Query string, without its `?`. */
      readonly search: string
    }
  /** JSON text of the OpenAPI document. */
  | { readonly document: string }
