import { problem, refuse } from '../core/answers/result.ts'
import type { Action } from '../core/endpoints.ts'
import { CALLER_CODES, type Issue, type IssueCode, type Problem, type ProblemCode, statusOf } from '../errors.ts'
import type { JsonObject } from '../model/json.ts'
import { type Component, type NamedSchema, reference, s } from './model-schema.ts'
import type { OpenApiExample, OpenApiReference, OpenApiResponse, OpenApiSchema } from './open-api-document.ts'
import { type HeaderName, headersNamed } from './parameters-and-headers.ts'

const issueCode = s.component<IssueCode>(
  'IssueCode',
  s.oneOf('What is wrong with one place of a body.', {
    required: 'it is missing',
    type: 'it is of another type',
    format: 'it is not written as it must be',
    too_short: 'it is too short',
    too_long: 'it is too long',
    too_many: 'there are too many',
    out_of_range: 'the number or instant is out of bounds',
    not_allowed: 'it is none of those that are',
    invalid: 'it is wrong otherwise; `detail` says what was expected',
    missing_template_data: 'a template reads it',
    conflict: 'it differs from what is recorded',
    too_deep: 'it is nested deeper than 32 levels',
    nul_character: 'it holds a NUL character',
    lone_surrogate: 'it holds half of a UTF-16 surrogate pair',
    forbidden_key: 'a key named `__proto__`',
  }),
)

const issue = s.object<Issue>('Issue', 'One fault in a body.', {
  pointer: s.text('JSON Pointer (RFC 6901) into the body that was sent.'),
  code: issueCode,
  detail: s.text('What was expected, for people. Never the value.'),
})

const problemCode = s.component<ProblemCode>('ProblemCode', {
  json: { type: 'string', enum: [...CALLER_CODES], description: 'A closed union: switch on it.' },
})

export const problemSchema: Component<Problem> = s.object<Problem>('Problem', 'Problem details (RFC 9457).', {
  type: s.text('`urn:sallyport:problem:` and the code.'),
  title: s.text('Of the kind of problem.'),
  status: s.whole(400, 'The HTTP status.'),
  detail: s.text('What happened this time, for people. Never a value that was sent.'),
  code: problemCode,
  requestId: s.text('Stands in the log of the host, with the cause of a fault.'),
  errors: s.optional(s.list(issue, 'All the faults of a body at once, at most 50.')),
  limit: s.optional(
    s.whole(0, 'Bytes of `body_too_large`, posts of `batch_too_large`, milliseconds of `body_timeout`.'),
  ),
})

export const PROBLEM_SCHEMAS: readonly NamedSchema[] = [problemSchema, problemCode, issue, issueCode]

interface Answered {
  readonly code: ProblemCode
  /** The endpoints that answer with this code. Default: all. */
  readonly only?: readonly Action[]
  /** The endpoint with this detail. Default: all that answer with this code. */
  readonly example?: Action
  readonly detail: string
  readonly errors?: readonly Issue[]
  readonly limit?: number
}

const DISPATCH: readonly Action[] = ['dispatch']
const BATCH = ['session_run_batch'] as const
const RUN: readonly Action[] = ['session_run']
const MOST_POSTS = 'The rate limit allows at most 60 posts at once.'
const TRY_AGAIN = 'Try again shortly.'
const CONSUMED = [
  'Something in the host read the body before Sallyport, and left nothing of it.',
  'Mount Sallyport before what reads the body, or let that keep its result:',
  'in req.body (Express, node:http) or ctx.request.body (Koa). Under fetch, pass a request that is still unread.',
]

/** Every problem by the name of its example. A test compares these with the answers of the endpoints exactly. */
const PROBLEMS: Readonly<Record<string, Answered>> = {
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
  redactor_unavailable: { code: 'redactor_unavailable', only: RUN, detail: TRY_AGAIN },
  auth_unavailable: { code: 'auth_unavailable', detail: TRY_AGAIN },
  rate_limiter_unavailable: { code: 'rate_limiter_unavailable', detail: TRY_AGAIN },
  overloaded: { code: 'overloaded', detail: TRY_AGAIN },
}

function queryInvalid(detail: string, more: Pick<Answered, 'example'> = {}): Answered {
  const errors: readonly Issue[] = [{ pointer: '', code: 'not_allowed', detail }]
  return { code: 'query_invalid', detail: 'The query string cannot be accepted.', errors, ...more }
}

function tooLarge(example: Action, limit: number): Answered {
  return { code: 'body_too_large', example, detail: `The body is over the limit of ${limit} bytes.`, limit }
}

function invalid(example: Action, pointer: string, code: IssueCode, detail: string): Answered {
  const errors = [{ pointer, code, detail }]
  return { code: 'validation_failed', example, detail: 'One place in the body cannot be accepted.', errors }
}

function notAllowed(code: ProblemCode, pointer: string, detail: string): Answered {
  return { code, only: DISPATCH, detail, errors: [{ pointer, code: 'not_allowed', detail }] }
}

interface About {
  readonly about: string
  /** Name of the response that endpoints share if all answer alike. */
  readonly shared?: string
  readonly headers?: readonly HeaderName[]
}

const STATUSES: Readonly<Record<number, About>> = {
  400: { about: 'The body is not JSON, or a header or the query string is malformed.' },
  401: {
    about: 'No bearer token was sent, or none that is valid.',
    shared: 'Unauthorized',
    headers: ['WWW-Authenticate'],
  },
  403: { about: 'The token is valid but does not permit this.', shared: 'Forbidden', headers: ['WWW-Authenticate'] },
  404: { about: 'Nothing is here; the code says what is missing.' },
  405: { about: 'What every method but POST is answered with.', shared: 'MethodNotAllowed', headers: ['Allow'] },
  408: { about: 'The body did not arrive in time; the connection is closed. Try again.', shared: 'BodyTimeout' },
  409: { about: 'The run is known as another one. Nothing was written.' },
  413: { about: 'The body is over a limit.', shared: 'BodyTooLarge', headers: ['RateLimit', 'RateLimit-Policy'] },
  415: {
    about: 'The body is not plain `application/json` in UTF-8.',
    shared: 'UnsupportedMediaType',
    headers: ['Accept', 'Accept-Encoding'],
  },
  422: { about: 'The request was understood and cannot be accepted. Nothing was stored.' },
  429: {
    about: 'There were too many requests. Try again after `Retry-After`.',
    shared: 'RateLimited',
    headers: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  },
  500: { about: 'Something broke that never should; the log of the host has the cause. Try again.', shared: 'Fault' },
  503: {
    about:
      'Something that is needed is down. Try again: nothing is recorded twice, nor dispatched with an `Idempotency-Key`.',
    headers: ['Retry-After'],
  },
}

/** Problem responses of an endpoint, by status. */
export function problemResponses(action: Action): Readonly<Record<string, OpenApiResponse | OpenApiReference>> {
  const general = byStatus(codesOf())
  const responses = [...byStatus([...codesOf(), ...codesOf(action)])].map(([status, codes]) => {
    const { shared } = aboutStatus(status)
    const isShared = shared !== undefined && codes.length === general.get(status)?.length
    return [status, isShared ? { $ref: `#/components/responses/${shared}` } : response(status, codes, action)]
  })
  return Object.fromEntries(responses)
}

/** Responses that all endpoints share, by name. */
export function sharedProblemResponses(): Readonly<Record<string, OpenApiResponse>> {
  const responses = [...byStatus(codesOf())].flatMap(([status, codes]) => {
    const { shared } = aboutStatus(status)
    return shared === undefined ? [] : [[shared, response(status, codes)]]
  })
  return Object.fromEntries(responses)
}

const REQUEST_ID = 'req_01m7yhx3000000000000000001'

export function problemExamples(): Readonly<Record<string, OpenApiExample>> {
  const examples = Object.entries(PROBLEMS).map(([name, { code, detail, errors, limit }]) => {
    const more = { ...(errors && { errors }), ...(limit !== undefined && { limit }) }
    const { body } = problem<never>(refuse(code, detail, more), REQUEST_ID)
    return [name, { summary: body.title, value: body as unknown as JsonObject }]
  })
  return Object.fromEntries(examples)
}

/** Codes that only some endpoints answer with, including this one; without an action, the codes of all endpoints. */
function codesOf(action?: Action): readonly ProblemCode[] {
  const own = Object.values(PROBLEMS).filter(({ only }) => (action ? only?.includes(action) : only === undefined))
  return [...new Set(own.map(({ code }) => code))]
}

function byStatus(codes: readonly ProblemCode[]): ReadonlyMap<number, readonly ProblemCode[]> {
  const grouped = new Map<number, ProblemCode[]>()
  for (const code of codes) grouped.set(statusOf(code), [...(grouped.get(statusOf(code)) ?? []), code])
  return new Map([...grouped].sort(([a], [b]) => a - b))
}

function aboutStatus(status: number): About {
  const about = STATUSES[status]
  if (!about) throw new TypeError(`nothing is said of ${status}`)
  return about
}

function response(status: number, codes: readonly ProblemCode[], action?: Action): OpenApiResponse {
  const { about, headers = [] } = aboutStatus(status)
  const fitting = Object.entries(PROBLEMS).filter(
    ([, { code, example }]) => codes.includes(code) && (!action || !example || example === action),
  )
  const examples = Object.fromEntries(fitting.map(([name]) => [name, { $ref: `#/components/examples/${name}` }]))
  return {
    description: about,
    headers: headersNamed(['Cache-Control', ...headers]),
    content: { 'application/problem+json': { schema: problemWith(status, codes), examples } },
  }
}

/** A problem with one of these codes, which have the same status. */
function problemWith(status: number, codes: readonly ProblemCode[]): OpenApiSchema {
  const narrowed = { status: { const: status }, code: { type: 'string', enum: [...codes] } }
  return {
    allOf: [reference(problemSchema.name), { type: 'object', properties: narrowed, required: ['status', 'code'] }],
  }
}
