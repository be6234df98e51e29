import { CODE_TEXTS, ISSUE_TEXTS } from '../code-texts.ts'
import { problem, refuse } from '../core/answers/result.ts'
import { CALLER_CODES, type Issue, type IssueCode, type Problem, type ProblemCode, statusOf } from '../errors.ts'
import type { JsonObject } from '../model/json.ts'
import { type SchemaOf, s } from './model-schema.ts'
import type { OpenApiExample, OpenApiReference, OpenApiResponse, OpenApiSchema } from './open-api-document.ts'
import { type HeaderName, headersNamed } from './parameters-and-headers.ts'
import { PROBLEMS } from './problem-table.ts'

const issueCode = s.component<IssueCode>('IssueCode', s.oneOf('What is wrong with one place of a body.', ISSUE_TEXTS))

export const issue: SchemaOf<Issue> = s.object<Issue>('Issue', 'One fault in a body.', {
  pointer: s.text('JSON Pointer (RFC 6901) into the body that was sent.'),
  code: issueCode,
  detail: s.text('What was expected, for people. Never the value.'),
})

const meanings = Object.fromEntries(
  CALLER_CODES.map((code) => [code, `${CODE_TEXTS[code].means} ${CODE_TEXTS[code].next}`]),
) as Readonly<Record<ProblemCode, string>>

const problemCode = s.component<ProblemCode>('ProblemCode', s.oneOf('A closed union: switch on it.', meanings))

export const problemSchema: SchemaOf<Problem> = s.object<Problem>('Problem', 'Problem details (RFC 9457).', {
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

interface About {
  readonly about: string
  /** Name of the response that endpoints share if all answer alike. */
  readonly shared?: string
  readonly headers?: readonly HeaderName[]
}

const STATUSES: Readonly<Record<number, About>> = {
  400: { about: 'The body is not JSON, or a header is malformed.' },
  401: {
    about: 'No bearer token was sent, or none that is valid.',
    shared: 'Unauthorized',
    headers: ['WWW-Authenticate'],
  },
  403: { about: 'The token is valid but does not permit this.', shared: 'Forbidden', headers: ['WWW-Authenticate'] },
  404: { about: 'Nothing is here; the code says what is missing.' },
  405: { about: 'Another method is allowed here.', shared: 'MethodNotAllowed', headers: ['Allow'] },
  408: { about: 'The body did not arrive in time; the connection is closed. Try again.', shared: 'BodyTimeout' },
  409: { about: 'It is known as another one, or was decided otherwise. Nothing was written.' },
  410: { about: 'It is too late. Nothing was written.' },
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

/** Problem responses of an action that reads its body itself, by status. */
export function problemResponses(action: string): Readonly<Record<string, OpenApiResponse | OpenApiReference>> {
  const general = byStatus(codesOf())
  const responses = [...byStatus([...codesOf(), ...codesOf(action)])].map(([status, codes]) => {
    const { shared } = aboutStatus(status)
    const isShared = shared !== undefined && codes.length === general.get(status)?.length
    return [status, isShared ? { $ref: `#/components/responses/${shared}` } : response(status, codes, action)]
  })
  return Object.fromEntries(responses)
}

/** Codes that only requests with a body get. */
const OF_BODIES: readonly ProblemCode[] = [
  ...(['invalid_json', 'body_timeout', 'body_too_large', 'unsupported_media_type'] as const),
  ...(['validation_failed', 'body_already_consumed'] as const),
]

/** Problem responses of an action that is a call of a service, by status. */
export function callProblems({
  hasBody,
  more,
}: {
  readonly hasBody: boolean
  /** Codes of this action besides those of all. */
  readonly more: readonly ProblemCode[]
}): Readonly<Record<string, OpenApiResponse>> {
  const codes = [...codesOf(), ...more].filter((code) => hasBody || !OF_BODIES.includes(code))
  return Object.fromEntries(
    [...byStatus(codes)].map(([status, own]) => {
      const { about, headers = [] } = aboutStatus(status)
      const content = { 'application/problem+json': { schema: problemWith(status, own) } }
      return [status, { description: about, headers: headersNamed(['Cache-Control', ...headers]), content }]
    }),
  )
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
function codesOf(action?: string): readonly ProblemCode[] {
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

function response(status: number, codes: readonly ProblemCode[], action?: string): OpenApiResponse {
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
    allOf: [problemSchema.json, { type: 'object', properties: narrowed, required: ['status', 'code'] }],
  }
}
