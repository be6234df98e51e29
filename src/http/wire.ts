import { type HandlerResult, type Refused, refuse } from '../core/answers/result.ts'
import type { Endpoints } from '../core/endpoints.ts'

/** An answer without its Content-Length. */
export interface Wire {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export const JSON_TYPE = 'application/json'

export function methodNotAllowed(allow: string): Refused {
  return refuse('method_not_allowed', `Only ${allow} is allowed here.`, { headers: { allow } })
}

export function notFound(endpoints: Endpoints): Wire {
  return toWire(endpoints.refuse(refuse('not_found', 'No endpoint has this path.')))
}

/** For transports without an error handler. */
export function internalError(endpoints: Endpoints, cause: unknown): Wire {
  return toWire(endpoints.refuse(refuse('internal_error', 'The request could not be handled.', { cause })))
}

/** Adds `Connection: close` (RFC 9112 section 9.6). */
export function closing(wire: Wire): Wire {
  return { ...wire, headers: { ...wire.headers, connection: 'close' } }
}

export function toWire({ ok, status, headers, body }: HandlerResult<unknown>, more?: Wire['headers']): Wire {
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

/** True for statuses without a body, and so without a Content-Length (RFC 9110 sections 8.6 and 15.4.5). */
export function hasNoBody(status: number): boolean {
  return status === 204 || status === 304
}
