import type { Issue, Problem, ProblemCode } from '../errors.ts'
import { statusOf } from '../errors.ts'
import { boundedIssues } from './issue-list.ts'

/** A request without its transport. */
export interface HandlerRequest {
  /** Names in lower case. Read: `authorization`, `idempotency-key`, `prefer`. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The parsed JSON body. */
  readonly body: unknown
  /** Read by dispatch: `dryRun`. */
  readonly query?: Readonly<Record<string, string | undefined>>
}

/** The answer to a request: what a transport sends, and what a unit test looks at. Expected failures are answers too. */
export type HandlerResult<Body> =
  | {
      readonly ok: true
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: Body
    }
  | {
      readonly ok: false
      readonly status: number
      readonly headers: Readonly<Record<string, string>>
      readonly body: Problem
    }

/** A refusal that has no request id yet: what the steps of a handler return when they cannot go on. */
export interface Refused {
  readonly refused: ProblemCode
  readonly detail: string
  readonly errors?: readonly Issue[]
  readonly limit?: number
  readonly headers?: Readonly<Record<string, string>>
  /** What a port threw: for the log alone. */
  readonly cause?: unknown
}

const TYPE_PREFIX = 'urn:sallyport:problem:'

export function refuse(code: ProblemCode, detail: string, more?: Omit<Refused, 'refused' | 'detail'>): Refused {
  return { refused: code, detail, ...more }
}

export function isRefused(value: unknown): value is Refused {
  return typeof value === 'object' && value !== null && 'refused' in value
}

export function success<Body>(
  status: number,
  body: Body,
  headers: Readonly<Record<string, string>> = {},
): HandlerResult<Body> {
  return { ok: true, status, headers, body }
}

/** Turns a refusal into the answer for one request. */
export function problem<Body>(refused: Refused, requestId: string): HandlerResult<Body> {
  const { refused: code, detail, errors, limit, headers = {} } = refused
  const status = statusOf(code)
  return {
    ok: false,
    status,
    headers,
    body: {
      type: TYPE_PREFIX + code,
      title: TITLES[code],
      status,
      detail,
      code,
      requestId,
      ...(errors && { errors: boundedIssues(errors) }),
      ...(limit !== undefined && { limit }),
    },
  }
}

const TITLES = {
  invalid_json: 'The body is not JSON',
  idempotency_key_invalid: 'The Idempotency-Key header is malformed',
  unauthorized: 'No bearer token was sent',
  invalid_token: 'The bearer token is not valid',
  insufficient_scope: 'The bearer token does not allow this',
  not_found: 'There is nothing here',
  session_not_found: 'There is no such session',
  method_not_allowed: 'The method is not allowed here',
  body_timeout: 'The body did not arrive in time',
  run_identity_conflict: 'The run is another one',
  body_too_large: 'The body is too large',
  unsupported_media_type: 'The body is not application/json',
  validation_failed: 'The body is not valid',
  event_unknown: 'There is no such event',
  channel_unknown: 'There is no such channel',
  channel_not_allowed: 'The event does not use this channel',
  recipient_unresolvable: 'The recipient cannot be resolved',
  template_data_missing: 'A template needs data that was not sent',
  idempotency_key_reused: 'The Idempotency-Key was used with another body',
  internal_error: 'Something went wrong here',
  body_already_consumed: 'The body was read before Sallyport got it',
  store_unavailable: 'The store is unavailable',
  directory_unavailable: 'The recipient directory is unavailable',
  policy_unavailable: 'The delivery policy is unavailable',
  redactor_unavailable: 'The redactor is unavailable',
  auth_unavailable: 'The token verifier is unavailable',
} as const satisfies Record<ProblemCode, string>
