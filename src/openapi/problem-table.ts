import type { Issue, IssueCode, ProblemCode } from '../errors.ts'

/** A problem that endpoints answer with. */
export interface Answered {
  readonly code: ProblemCode
  /** Names of the actions that answer with this code. Default: all. */
  readonly only?: readonly string[]
  /** Name of the action with this detail. Default: all that answer with this code. */
  readonly example?: string
  readonly detail: string
  readonly errors?: readonly Issue[]
  readonly limit?: number
}

const DISPATCH: readonly string[] = ['dispatch']
const BATCH = ['session_run_batch'] as const
const RUN: readonly string[] = ['session_run']
const MOST_POSTS = 'The rate limit allows at most 60 posts at once.'
const TRY_AGAIN = 'Try again shortly.'
const CONSUMED = [
  'Something in the host read the body before Sallyport, and left nothing of it.',
  'Mount Sallyport before what reads the body, or let that keep its result:',
  'in req.body (Express, node:http) or ctx.request.body (Koa). Under fetch, pass a request that is still unread.',
]

/** Every problem by the name of its example. A test compares these with the answers of the endpoints exactly. */
export const PROBLEMS: Readonly<Record<string, Answered>> = {
  invalid_json: { code: 'invalid_json', detail: 'The body is not well-formed JSON.' },
  query_invalid_dispatch: queryInvalid('the only query parameter here is dryRun', { example: 'dispatch' }),
  query_invalid: queryInvalid('no query parameter is known here'),
  idempotency_key_invalid: {
    code: 'idempotency_key_invalid',
    only: DISPATCH,
    detail: 'Send one Idempotency-Key of 1-255 visible ASCII characters, quoted or bare.',
  },
  unauthorized: {
    code: 'unauthorized',
    detail: 'Send an application secret or a session token as "Authorization: Bearer <token>".',
  },
  invalid_token: { code: 'invalid_token', detail: 'The token is malformed, unknown, expired or revoked.' },
  insufficient_scope: { code: 'insufficient_scope', detail: 'The token does not allow this.' },
  insufficient_scope_dispatch: {
    code: 'insufficient_scope',
    example: 'dispatch',
    detail: 'The session token does not grant this recipient.',
  },
  insufficient_scope_session_token: {
    code: 'insufficient_scope',
    example: 'session_token',
    detail: 'The request exceeds what the token allows.',
    errors: [{ pointer: '/grants/dispatch', code: 'not_allowed', detail: 'the token grants no dispatch' }],
  },
  insufficient_scope_session_run: {
    code: 'insufficient_scope',
    example: 'session_run',
    detail: 'The session token belongs to another session.',
  },
  grant_spent: {
    code: 'grant_spent',
    only: DISPATCH,
    detail: 'The session token has dispatched as many events as it may. What was accepted stands.',
  },
  not_found: { code: 'not_found', detail: 'No endpoint has this path.' },
  session_not_found: { code: 'session_not_found', only: RUN, detail: 'Open the session before its first run.' },
  method_not_allowed: { code: 'method_not_allowed', detail: 'Only POST is allowed here.' },
  body_timeout: { code: 'body_timeout', detail: 'The body did not arrive within 10000 ms.', limit: 10_000 },
  run_identity_conflict: {
    code: 'run_identity_conflict',
    only: RUN,
    detail: 'A run keeps its attempt. Nothing was recorded.',
    errors: [{ pointer: '/run/attempt', code: 'conflict', detail: 'differs from what the run was recorded with' }],
  },
  body_too_large_dispatch: tooLarge('dispatch', 262_144),
  body_too_large_session_run: tooLarge('session_run', 65_536),
  body_too_large_session_run_batch: tooLarge('session_run_batch', 262_144),
  batch_too_large: { code: 'batch_too_large', only: BATCH, detail: MOST_POSTS, limit: 60 },
  body_too_large_session_token: tooLarge('session_token', 65_536),
  unsupported_media_type: {
    code: 'unsupported_media_type',
    detail: 'Send the body as application/json, in UTF-8.',
  },
  validation_failed_dispatch: invalid('dispatch', '/recipient', 'required', 'is required'),
  validation_failed_session_run: invalid('session_run', '/run/counts/steps', 'out_of_range', 'expected 0 to 2^53 - 1'),
  validation_failed_session_run_batch: invalid('session_run_batch', '/runs', 'too_short', 'expected 1 to 100 posts'),
  validation_failed_session_token: invalid('session_token', '/grants', 'required', 'is required'),
  event_unknown: notAllowed('event_unknown', '/eventType', 'No event has this name. Near: order.shipped.'),
  channel_unknown: notAllowed(
    'channel_unknown',
    '/channel',
    'No channel has this name. Near: email. The event can be sent through email, sms.',
  ),
  channel_not_allowed: notAllowed('channel_not_allowed', '/channel', 'The event can be sent through email, sms.'),
  recipient_unresolvable: {
    code: 'recipient_unresolvable',
    only: DISPATCH,
    detail: 'No recipient has this id.',
    errors: [{ pointer: '/recipient', code: 'invalid', detail: 'No recipient has this id.' }],
  },
  template_data_missing: {
    code: 'template_data_missing',
    only: DISPATCH,
    detail: 'A template reads data that was not sent.',
    errors: [{ pointer: '/eventData/day', code: 'missing_template_data', detail: 'a template reads data.day' }],
  },
  idempotency_key_reused: {
    code: 'idempotency_key_reused',
    only: DISPATCH,
    detail: 'This Idempotency-Key came with another body before. Use a new key for a new event.',
  },
  rate_limited: { code: 'rate_limited', detail: 'Too many requests of this token. Try again in 12 s.' },
  internal_error: { code: 'internal_error', detail: 'The request could not be handled.' },
  body_already_consumed: { code: 'body_already_consumed', detail: CONSUMED.join(' ') },
  store_unavailable: { code: 'store_unavailable', detail: TRY_AGAIN },
  // Each result in a batch can have these.
  directory_unavailable: { code: 'directory_unavailable', only: DISPATCH, detail: TRY_AGAIN },
  policy_unavailable: { code: 'policy_unavailable', only: DISPATCH, detail: TRY_AGAIN },
  guard_unavailable: { code: 'guard_unavailable', only: DISPATCH, detail: TRY_AGAIN },
  redactor_unavailable: { code: 'redactor_unavailable', only: RUN, detail: TRY_AGAIN },
  auth_unavailable: { code: 'auth_unavailable', detail: TRY_AGAIN },
  rate_limiter_unavailable: { code: 'rate_limiter_unavailable', detail: TRY_AGAIN },
  overloaded: { code: 'overloaded', detail: TRY_AGAIN },
}

function queryInvalid(detail: string, more: Pick<Answered, 'example'> = {}): Answered {
  const errors: readonly Issue[] = [{ pointer: '', code: 'not_allowed', detail }]
  return { code: 'query_invalid', detail: 'The query string cannot be accepted.', errors, ...more }
}

function tooLarge(example: string, limit: number): Answered {
  return { code: 'body_too_large', example, detail: `The body is over the limit of ${limit} bytes.`, limit }
}

function invalid(example: string, pointer: string, code: IssueCode, detail: string): Answered {
  const errors = [{ pointer, code, detail }]
  return { code: 'validation_failed', example, detail: 'One place in the body cannot be accepted.', errors }
}

function notAllowed(code: ProblemCode, pointer: string, detail: string): Answered {
  return { code, only: DISPATCH, detail, errors: [{ pointer, code: 'not_allowed', detail }] }
}
