import type { Action } from '../core/endpoints.ts'
import type { Operation } from '../model/principal.ts'

/** One endpoint. */
export interface HttpRoute {
  readonly action: Action
  /** The operation that the token must allow. */
  readonly operation: Operation
  readonly method: 'POST'
  /** Below the base path. */
  readonly path: string
  /** The largest body that is read. */
  readonly maxBytes: number
}

/** The route table. */
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
]

/** The path of the OpenAPI document, where a mount serves one. */
export const DOCUMENT_PATH = '/api/outbound/openapi.json'

/** The target of a request, whatever its method. */
export type Target =
  | {
      readonly route: HttpRoute
      /** The query string, without its `?`. */
      readonly search: string
    }
  /** The JSON text of the OpenAPI document. */
  | { readonly document: string }
