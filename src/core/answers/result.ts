import { type Issue, type Problem, type ProblemCode, statusOf, titleOf } from '../../errors.ts'
import type { ErrorContext } from './report-fault.ts'

/** A request, without its transport. */
export interface HandlerRequest {
  /** Names in lower case. Used: `authorization`, `idempotency-key`, `prefer`. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The parsed JSON body. */
  readonly body: unknown
  /** Used by dispatch, `dryRun`, and by the read API. The value of a repeated parameter is a list. */
  readonly query?: Readonly<Record<string, string | readonly string[] | undefined>>
  /** Used by the read API: parameters of the path, decoded. */
  readonly parameters?: Readonly<Record<string, string>>
}

/** Answer to a request, without its transport. Expected failures are answers too. */
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

/** Refusal by a step of a handler, before it has a request id. */
export interface Refused {
  readonly refused: ProblemCode
  readonly detail: string
  readonly errors?: readonly Issue[]
  readonly limit?: number
  readonly headers?: Readonly<Record<string, string>>
  /** The error that host code threw: only for the log and `onError`. */
  readonly cause?: unknown
  readonly at?: ErrorContext
  /** Why the token is refused: only for the log. */
  readonly reason?: string | undefined
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

export function problem<Body>(refused: Refused, requestId: string): HandlerResult<Body> {
  const { refused: code, detail, errors, limit, headers = {} } = refused
  const status = statusOf(code)
  return {
    ok: false,
    status,
    headers,
    body: {
      type: TYPE_PREFIX + code,
      title: titleOf(code),
      status,
      detail,
      code,
      requestId,
      ...(errors && { errors: boundedIssues(errors) }),
      ...(limit !== undefined && { limit }),
    },
  }
}

const MAX_ISSUES = 50
const MAX_POINTER_CHARACTERS = 8_192

/** Issues of one body, limited in number and pointer length so that the answer cannot outgrow the body. */
export class IssueList {
  readonly #issues: Issue[] = []
  #characters = 0

  get issues(): readonly Issue[] {
    return this.#issues
  }

  get isFull(): boolean {
    return this.#issues.length >= MAX_ISSUES || this.#characters >= MAX_POINTER_CHARACTERS
  }

  add(issue: Issue): void {
    if (this.isFull) return
    this.#issues.push(issue)
    this.#characters += issue.pointer.length
  }
}

export function boundedIssues(issues: readonly Issue[]): readonly Issue[] {
  const list = new IssueList()
  for (const issue of issues) list.add(issue)
  return list.issues
}
