import { problem, refuse } from '../core/answers/result.ts'
import type { Action } from '../core/endpoints.ts'
import type { Issue, ProblemCode } from '../errors.ts'
import type { JsonObject } from '../model/json.ts'
import type { OpenApiExample, OpenApiReference } from './open-api-document.ts'

/** What one problem says. */
interface Reported {
  readonly code: ProblemCode
  /** The endpoint that says it so. Absent: all of them do that have the code. */
  readonly action?: Action
  readonly detail: string
  readonly errors?: readonly Issue[]
  readonly limit?: number
}

const TRY_AGAIN = 'Try again shortly.'
const CONSUMED = [
  'Something in the host read the body before Sallyport, and left nothing of it.',
  'Mount Sallyport before what reads the body, or let that keep its result:',
  'in req.body (Express, node:http) or ctx.request.body (Koa). Under fetch, pass a request that is still unread.',
]

/** Every one of these is what the endpoints answer, word for word: a test asks them. */
const EXAMPLES: Readonly<Record<string, Reported>> = {
  invalid_json: { code: 'invalid_json', detail: 'The body is not well-formed JSON.' },
  idempotency_key_invalid: {
    code: 'idempotency_key_invalid',
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
    action: 'dispatch',
    detail: 'The session token does not grant this recipient.',
  },
  insufficient_scope_session_run: {
    code: 'insufficient_scope',
    action: 'session_run',
    detail: 'The session token belongs to another session.',
  },
  grant_spent: {
    code: 'grant_spent',
    detail: 'The session token has dispatched as many events as it may. What was accepted stands.',
  },
  not_found: { code: 'not_found', detail: 'No endpoint has this path.' },
  session_not_found: { code: 'session_not_found', detail: 'Open the session before its first run.' },
  method_not_allowed: { code: 'method_not_allowed', detail: 'Only POST is allowed here.' },
  body_timeout: { code: 'body_timeout', detail: 'The body did not arrive within 10000 ms.', limit: 10_000 },
  run_identity_conflict: {
    code: 'run_identity_conflict',
    detail: 'A run keeps its sessionId. Nothing was recorded.',
    errors: [{ pointer: '/sessionId', code: 'conflict', detail: 'differs from what the run was recorded with' }],
  },
  body_too_large_dispatch: tooLarge('dispatch', 262_144),
  body_too_large_session_run: tooLarge('session_run', 65_536),
  body_too_large_session_run_batch: tooLarge('session_run_batch', 262_144),
  unsupported_media_type: {
    code: 'unsupported_media_type',
    detail: 'Send the body as application/json, in UTF-8.',
  },
  validation_failed_dispatch: invalid('dispatch', { pointer: '/recipient', code: 'required', detail: 'is required' }),
  validation_failed_session_run: invalid('session_run', {
    pointer: '/run/counts/steps',
    code: 'out_of_range',
    detail: 'expected 0 to 2^53 - 1',
  }),
  validation_failed_session_run_batch: invalid('session_run_batch', {
    pointer: '/runs',
    code: 'too_short',
    detail: 'expected 1 to 100 posts',
  }),
  event_unknown: notAllowed('event_unknown', '/eventType', 'No event has this name. Near: order.shipped.'),
  channel_unknown: notAllowed(
    'channel_unknown',
    '/channel',
    'No channel has this name. Near: email. The event can be sent through email, sms.',
  ),
  channel_not_allowed: notAllowed('channel_not_allowed', '/channel', 'The event can be sent through email, sms.'),
  recipient_unresolvable: {
    code: 'recipient_unresolvable',
    detail: 'No recipient has this id.',
    errors: [{ pointer: '/recipient', code: 'invalid', detail: 'No recipient has this id.' }],
  },
  template_data_missing: {
    code: 'template_data_missing',
    detail: 'A template reads data that was not sent.',
    errors: [{ pointer: '/eventData/day', code: 'missing_template_data', detail: 'a template reads data.day' }],
  },
  idempotency_key_reused: {
    code: 'idempotency_key_reused',
    detail: 'This Idempotency-Key came with another body before. Use a new key for a new event.',
  },
  rate_limited: { code: 'rate_limited', detail: 'Too many requests of this token. Try again in 12 s.' },
  internal_error: { code: 'internal_error', detail: 'The request could not be handled.' },
  body_already_consumed: { code: 'body_already_consumed', detail: CONSUMED.join(' ') },
  store_unavailable: { code: 'store_unavailable', detail: TRY_AGAIN },
  directory_unavailable: { code: 'directory_unavailable', detail: TRY_AGAIN },
  policy_unavailable: { code: 'policy_unavailable', detail: TRY_AGAIN },
  redactor_unavailable: { code: 'redactor_unavailable', detail: TRY_AGAIN },
  auth_unavailable: { code: 'auth_unavailable', detail: TRY_AGAIN },
  rate_limiter_unavailable: { code: 'rate_limiter_unavailable', detail: TRY_AGAIN },
  overloaded: { code: 'overloaded', detail: TRY_AGAIN },
}

const REQUEST_ID = 'req_01m7yhx3000000000000000001'

/** All the examples of problems, by name. */
export function problemExampleComponents(): Readonly<Record<string, OpenApiExample>> {
  return Object.fromEntries(
    Object.entries(EXAMPLES).map(([name, { code, detail, errors, limit }]) => {
      const more = { ...(errors && { errors }), ...(limit !== undefined && { limit }) }
      const { body } = problem<never>(refuse(code, detail, more), REQUEST_ID)
      return [name, { summary: body.title, value: body as unknown as JsonObject }]
    }),
  )
}

/** The examples of some codes; of those that are an endpoint's own, only this one's, if it is told which. */
export function problemExamples(codes: readonly ProblemCode[], of?: Action): Record<string, OpenApiReference> {
  const fitting = Object.entries(EXAMPLES).filter(
    ([, { code, action }]) => codes.includes(code) && (of === undefined || action === undefined || action === of),
  )
  return Object.fromEntries(fitting.map(([name]) => [name, { $ref: `#/components/examples/${name}` }]))
}

function tooLarge(action: Action, limit: number): Reported {
  return { code: 'body_too_large', action, detail: `The body is over the limit of ${limit} bytes.`, limit }
}

function invalid(action: Action, issue: Issue): Reported {
  return { code: 'validation_failed', action, detail: 'One place in the body cannot be accepted.', errors: [issue] }
}

function notAllowed(code: ProblemCode, pointer: string, detail: string): Reported {
  return { code, detail, errors: [{ pointer, code: 'not_allowed', detail }] }
}
