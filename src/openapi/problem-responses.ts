import type { Action } from '../core/endpoints.ts'
import { type ProblemCode, statusOf } from '../errors.ts'
import type { OpenApiReference, OpenApiResponse } from './open-api-document.ts'
import { type HeaderName, headersNamed } from './parameters-and-headers.ts'
import { problemExamples } from './problem-examples.ts'
import { problemWith } from './problem-schema.ts'

/** What every endpoint may answer, whatever it does. */
const EVERYWHERE: readonly ProblemCode[] = [
  'invalid_json',
  'unauthorized',
  'invalid_token',
  'insufficient_scope',
  'not_found',
  'method_not_allowed',
  'body_timeout',
  'body_too_large',
  'unsupported_media_type',
  'validation_failed',
  'rate_limited',
  'internal_error',
  'body_already_consumed',
  'auth_unavailable',
  'rate_limiter_unavailable',
  'overloaded',
]

/** What it may answer beyond that. What becomes of the posts of a batch stands in its results. */
const OWN: Readonly<Record<Action, readonly ProblemCode[]>> = {
  dispatch: [
    'idempotency_key_invalid',
    'grant_spent',
    'event_unknown',
    'channel_unknown',
    'channel_not_allowed',
    'recipient_unresolvable',
    'template_data_missing',
    'idempotency_key_reused',
    'store_unavailable',
    'directory_unavailable',
    'policy_unavailable',
  ],
  session_run: ['session_not_found', 'run_identity_conflict', 'store_unavailable', 'redactor_unavailable'],
  session_run_batch: [],
}

interface About {
  readonly about: string
  /** The name under which endpoints share what they answer with it, where they answer alike. */
  readonly shared?: string
}

const STATUSES: Readonly<Record<number, About>> = {
  400: { about: 'The body is not JSON, or a header is malformed.' },
  401: { about: 'No bearer token was sent, or none that is valid.', shared: 'Unauthorized' },
  403: { about: 'The token is good, but not for this.', shared: 'Forbidden' },
  404: { about: 'Nothing is here; the code says what is missing.' },
  405: { about: 'What every method but POST is answered with.', shared: 'MethodNotAllowed' },
  408: { about: 'The body did not arrive in time; the connection is closed. Try again.', shared: 'BodyTimeout' },
  409: { about: 'The run is known as another one. Nothing was written.' },
  413: { about: 'The body is over the limit.', shared: 'BodyTooLarge' },
  415: { about: 'The body is not plain `application/json` in UTF-8.', shared: 'UnsupportedMediaType' },
  422: { about: 'The request was understood and cannot be accepted. Nothing was stored.' },
  429: { about: 'There were too many requests. Try again after `Retry-After`.', shared: 'RateLimited' },
  500: { about: 'Something broke that never should; the log of the host has the cause. Try again.', shared: 'Fault' },
  503: {
    about:
      'Something that is needed is down. Try again: nothing is recorded twice, nor dispatched with an `Idempotency-Key`.',
  },
}

const HEADERS: Readonly<Record<number, readonly HeaderName[]>> = {
  401: ['WWW-Authenticate'],
  403: ['WWW-Authenticate'],
  405: ['Allow'],
  415: ['Accept', 'Accept-Encoding'],
  429: ['Retry-After', 'RateLimit', 'RateLimit-Policy'],
  503: ['Retry-After'],
}

/** The problems that an endpoint may answer with, by status. */
export function problemResponses(action: Action): Readonly<Record<string, OpenApiResponse | OpenApiReference>> {
  const everywhere = grouped(EVERYWHERE)
  const answers = [...grouped([...EVERYWHERE, ...OWN[action]])].map(([status, codes]) => {
    const { shared } = aboutStatus(status)
    const isShared = shared !== undefined && codes.length === everywhere.get(status)?.length
    return [status, isShared ? { $ref: `#/components/responses/${shared}` } : response(status, codes, action)]
  })
  return Object.fromEntries(answers)
}

/** What all endpoints answer alike, by the name that they share it under. */
export function sharedProblemResponses(): Readonly<Record<string, OpenApiResponse>> {
  const answers = [...grouped(EVERYWHERE)].flatMap(([status, codes]) => {
    const { shared } = aboutStatus(status)
    return shared === undefined ? [] : [[shared, response(status, codes)]]
  })
  return Object.fromEntries(answers)
}

function grouped(codes: readonly ProblemCode[]): ReadonlyMap<number, readonly ProblemCode[]> {
  const byStatus = new Map<number, ProblemCode[]>()
  for (const code of codes) {
    const status = statusOf(code)
    byStatus.set(status, [...(byStatus.get(status) ?? []), code])
  }
  return new Map([...byStatus].sort(([a], [b]) => a - b))
}

function aboutStatus(status: number): About {
  const about = STATUSES[status]
  if (!about) throw new TypeError(`nothing is said of ${status}`)
  return about
}

function response(status: number, codes: readonly ProblemCode[], action?: Action): OpenApiResponse {
  return {
    description: aboutStatus(status).about,
    headers: headersNamed(['Cache-Control', ...(HEADERS[status] ?? [])]),
    content: {
      'application/problem+json': { schema: problemWith(status, codes), examples: problemExamples(codes, action) },
    },
  }
}
