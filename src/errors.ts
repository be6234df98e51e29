/**
 * Every code that an answer can have, with its HTTP status and title. The keys are {@link ProblemCode}; `docs/errors.md` has a
 * heading for each, and `code-texts.ts` its text.
 */
const PROBLEMS = {
  invalid_json: [400, 'The body is not JSON'],
  idempotency_key_invalid: [400, 'The Idempotency-Key header is malformed'],
  unauthorized: [401, 'No bearer token was sent'],
  invalid_token: [401, 'The bearer token is not valid'],
  proof_invalid: [401, 'The proof of the request is not valid'],
  insufficient_scope: [403, 'The bearer token does not allow this'],
  grant_spent: [403, 'The session token has dispatched all that it may'],
  not_found: [404, 'There is nothing here'],
  session_not_found: [404, 'There is no such session'],
  approval_not_found: [404, 'There is no such approval'],
  method_not_allowed: [405, 'The method is not allowed here'],
  body_timeout: [408, 'The body did not arrive in time'],
  run_identity_conflict: [409, 'The run is another one'],
  approval_conflict: [409, 'The approval is for something else'],
  approval_answered: [409, 'The approval has another answer'],
  approval_not_accepted: [409, 'The approval is not accepted'],
  approval_consumed: [409, 'The approved action was taken already'],
  approval_ended: [410, 'The time of the approval is over'],
  body_too_large: [413, 'The body is too large'],
  batch_too_large: [413, 'The batch is larger than a rate limit'],
  unsupported_media_type: [415, 'The body is not application/json'],
  query_invalid: [422, 'The query string is not valid'],
  validation_failed: [422, 'The body is not valid'],
  event_unknown: [422, 'There is no such event'],
  channel_unknown: [422, 'There is no such channel'],
  channel_not_allowed: [422, 'The event does not use this channel'],
  recipient_unresolvable: [422, 'The recipient cannot be resolved'],
  template_data_missing: [422, 'A template needs data that was not sent'],
  approval_unreachable: [422, 'No approver can be asked'],
  approval_link_missing: [422, 'No message has a link to answer'],
  idempotency_key_reused: [422, 'The Idempotency-Key was used with another body'],
  rate_limited: [429, 'There were too many requests'],
  internal_error: [500, 'Something went wrong here'],
  body_already_consumed: [500, 'The body was read before Sallyport got it'],
  store_unavailable: [503, 'The store is unavailable'],
  directory_unavailable: [503, 'The recipient directory is unavailable'],
  policy_unavailable: [503, 'The delivery policy is unavailable'],
  guard_unavailable: [503, 'The address cannot be checked'],
  redactor_unavailable: [503, 'The redactor is unavailable'],
  auth_unavailable: [503, 'The token verifier is unavailable'],
  rate_limiter_unavailable: [503, 'The rate limiter is unavailable'],
  feedback_unavailable: [503, 'The proof of the request cannot be checked'],
  overloaded: [503, 'Too much is going on here already'],
} as const

/**
 * Code of a {@link SallyportError} that is thrown at start-up or by a library call, or logged; never sent to a caller. `answer_invalid`:
 * a port of the host returned a wrong value. `no_answer`: it did not answer, or not in time. `record_unreadable`: a stored record is
 * damaged.
 */
export type FaultCode =
  | 'events_invalid'
  | 'config_invalid'
  | 'option_invalid'
  | 'peer_missing'
  | 'answer_invalid'
  | 'no_answer'
  | 'record_unreadable'

/** The `code` of a problem answer. A closed union: switch on it. */
export type ProblemCode = keyof typeof PROBLEMS

export function statusOf(code: ProblemCode): number {
  return PROBLEMS[code][0]
}

export function titleOf(code: ProblemCode): string {
  return PROBLEMS[code][1]
}

/** All codes that an answer can have, in the order of their status. */
export const PROBLEM_CODES: readonly ProblemCode[] = /* @__PURE__ */ Object.freeze(
  /* @__PURE__ */ Object.keys(PROBLEMS) as ProblemCode[],
)

/** Code of answers to applications and agents: without those for providers of feedback. */
export type CallerCode = Exclude<ProblemCode, 'proof_invalid' | 'feedback_unavailable'>

export const CALLER_CODES: readonly CallerCode[] = /* @__PURE__ */ PROBLEM_CODES.filter(
  (code): code is CallerCode => code !== 'proof_invalid' && code !== 'feedback_unavailable',
)

/** Kind of fault at one place of a request body. A closed union. */
export type IssueCode =
  | 'required'
  | 'type'
  | 'format'
  | 'too_short'
  | 'too_long'
  | 'too_many'
  | 'out_of_range'
  | 'not_allowed'
  | 'invalid'
  | 'missing_template_data'
  | 'conflict'
  | 'too_deep'
  | 'nul_character'
  | 'lone_surrogate'
  | 'forbidden_key'

/**
 * One fault in a request: its place (RFC 6901 JSON Pointer into the body; with `query_invalid`, into the query parameters as an
 * object), its kind, and the expected input. Never the value.
 */
export interface Issue {
  readonly pointer: string
  readonly code: IssueCode
  readonly detail: string
}

/** An error answer: RFC 9457 problem details, sent as `application/problem+json`. */
export interface Problem {
  /** Stable URI of the kind of problem: `urn:sallyport:problem:<code>`. */
  readonly type: string
  readonly title: string
  readonly status: number
  /** Explains this occurrence. Never contains a sent value, a secret or a stack. */
  readonly detail: string
  readonly code: ProblemCode
  /** Also in the log line of this answer, which has the cause of a fault. */
  readonly requestId: string
  /** All faults of a body, at most 50. */
  readonly errors?: readonly Issue[]
  /** With `body_too_large`: the limit in bytes. With `batch_too_large`: in posts. With `body_timeout`: in milliseconds. */
  readonly limit?: number
}

/** One problem of a configuration, and its place. */
export interface ConfigProblem {
  readonly detail: string
  readonly event?: string
  readonly channel?: string
  /** The template field (`subject`, `locales.de.subject`, …), `when`, or an option (`digest.max`). */
  readonly field?: string
  /** 1-based, in the template's source. */
  readonly line?: number
  /** 1-based, in the template's source. */
  readonly column?: number
  /** JSON Pointer into a JSON rule. */
  readonly pointer?: string
}

const MARK = Symbol.for('sallyport.error')

/** Further members of a {@link SallyportError}. */
export interface SallyportErrorDetails {
  readonly cause?: unknown
  readonly status?: number
  readonly errors?: readonly Issue[] | undefined
}

/**
 * A mistake of the host, found at start-up or in a library call, with all its problems; or a refused `dispatchOrThrow`. Recognise it
 * with {@link isSallyportError}, which also works when two copies of the package are installed.
 */
export class SallyportError extends Error {
  override readonly name = 'SallyportError'
  /** The code of the fault; for a refused dispatch, that of its {@link Problem}. */
  readonly code: FaultCode | ProblemCode
  readonly problems: readonly ConfigProblem[]
  /** The section about the code in the documentation within the package: `sallyport/dist/docs/errors.md#config_invalid`. */
  readonly docs: string
  /** Status that the endpoint would answer. Absent unless a dispatch was refused. */
  declare readonly status?: number
  /** All faults of the event. Absent unless a dispatch was refused because of them. */
  declare readonly errors?: readonly Issue[]

  constructor(
    code: FaultCode | ProblemCode,
    summary: string,
    problems: readonly ConfigProblem[] = [],
    { status, errors, ...options }: SallyportErrorDetails = {},
  ) {
    super([summary, ...problems.map((problem) => `  - ${describe(problem)}`)].join('\n'), options)
    this.code = code
    this.problems = problems
    this.docs = `sallyport/dist/docs/errors.md#${code}`
    if (status !== undefined) this.status = status
    if (errors !== undefined) this.errors = errors
    Object.defineProperty(this, MARK, { value: true })
  }
}

/** True for a {@link SallyportError} from any installed copy of the package. */
export function isSallyportError(error: unknown): error is SallyportError {
  try {
    return typeof error === 'object' && error !== null && Reflect.get(error, MARK) === true
  } catch {
    // A proxy may throw; a SallyportError does not.
    return false
  }
}

function describe({ event, channel, field, line, column, pointer, detail }: ConfigProblem): string {
  const place = [
    event && `event ${JSON.stringify(event)}`,
    channel && `channel ${JSON.stringify(channel)}`,
    field && `field ${JSON.stringify(field)}`,
    line !== undefined && `line ${line}${column === undefined ? '' : `, column ${column}`}`,
    pointer !== undefined && `at ${JSON.stringify(pointer)}`,
  ].filter(Boolean)
  return place.length > 0 ? `${place.join(', ')}: ${detail}` : detail
}
