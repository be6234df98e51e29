/**
 * Every code that an answer can carry, with its HTTP status.
 *
 * The table is the single source: {@link ProblemCode} is its keys, `docs/errors.md` has a heading for each.
 */
const STATUS = {
  invalid_json: 400,
  idempotency_key_invalid: 400,
  unauthorized: 401,
  invalid_token: 401,
  insufficient_scope: 403,
  not_found: 404,
  session_not_found: 404,
  method_not_allowed: 405,
  body_timeout: 408,
  run_identity_conflict: 409,
  body_too_large: 413,
  unsupported_media_type: 415,
  validation_failed: 422,
  event_unknown: 422,
  channel_unknown: 422,
  channel_not_allowed: 422,
  recipient_unresolvable: 422,
  template_data_missing: 422,
  idempotency_key_reused: 422,
  internal_error: 500,
  body_already_consumed: 500,
  store_unavailable: 503,
  directory_unavailable: 503,
  policy_unavailable: 503,
  redactor_unavailable: 503,
  auth_unavailable: 503,
} as const

/** What stops a host at start-up or in a library call; thrown as a {@link SallyportError}, never sent to a caller. */
export type FaultCode = 'events_invalid' | 'config_invalid' | 'option_invalid'

/** The `code` of a problem answer. A closed union: switch on it. */
export type ProblemCode = keyof typeof STATUS

/** The HTTP status that goes with a code. */
export function statusOf(code: ProblemCode): number {
  return STATUS[code]
}

/** All codes that an answer can carry, in the order of their status. */
export const PROBLEM_CODES: readonly ProblemCode[] = Object.freeze(Object.keys(STATUS) as ProblemCode[])

/** What is wrong with one place of a request body. A closed union. */
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

/** One fault in a request: where (RFC 6901 JSON Pointer into the body), which, and what was expected. Never the value. */
export interface Issue {
  readonly pointer: string
  readonly code: IssueCode
  readonly detail: string
}

/** An error answer: RFC 9457 problem details, sent as `application/problem+json`. */
export interface Problem {
  /** A stable URI of the kind of problem: `urn:sallyport:problem:<code>`. */
  readonly type: string
  readonly title: string
  readonly status: number
  /** What happened this time. Never holds a value that was sent, a secret or a stack. */
  readonly detail: string
  readonly code: ProblemCode
  /** Also in the log line of this answer, where a fault's cause stands. */
  readonly requestId: string
  /** All the faults of a body at once, at most 50. */
  readonly errors?: readonly Issue[]
  /** With `body_too_large`: the limit in bytes. With `body_timeout`: the limit in milliseconds. */
  readonly limit?: number
}

/** One thing wrong with a configuration, and where. */
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

/**
 * A mistake of the host, found at start-up or in a library call: all of its problems at once.
 *
 * Recognise it with {@link isSallyportError}, which also holds when two copies of the package are installed.
 */
export class SallyportError extends Error {
  override readonly name = 'SallyportError'
  readonly code: FaultCode
  readonly problems: readonly ConfigProblem[]

  constructor(
    code: FaultCode,
    summary: string,
    problems: readonly ConfigProblem[] = [],
    options?: { cause?: unknown },
  ) {
    super([summary, ...problems.map((problem) => `  - ${describe(problem)}`)].join('\n'), options)
    this.code = code
    this.problems = problems
    Object.defineProperty(this, MARK, { value: true })
  }
}

/** Whether an error is Sallyport's own, from any installed copy of the package. */
export function isSallyportError(error: unknown): error is SallyportError {
  return typeof error === 'object' && error !== null && Reflect.get(error, MARK) === true
}

function describe({ event, channel, field, line, column, pointer, detail }: ConfigProblem): string {
  const place = [
    event && `event "${event}"`,
    channel && `channel "${channel}"`,
    field && `field "${field}"`,
    line !== undefined && `line ${line}${column === undefined ? '' : `, column ${column}`}`,
    pointer !== undefined && `at "${pointer}"`,
  ].filter(Boolean)
  return place.length > 0 ? `${place.join(', ')}: ${detail}` : detail
}
