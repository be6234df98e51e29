import type { Issue, Problem, ProblemCode } from '../../errors.ts'
import { statusOf, titleOf } from '../../errors.ts'
import { boundedIssues } from './issue-list.ts'
import type { ErrorContext } from './report-fault.ts'

/** A request without its transport. */
export interface HandlerRequest {
  /** Names in lower case. Read: `authorization`, `idempotency-key`, `prefer`. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  /** The parsed JSON body. */
  readonly body: unknown
  /** Read by dispatch: `dryRun`. A parameter that was sent more than once is a list. */
  readonly query?: Readonly<Record<string, string | readonly string[] | undefined>>
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
  /** What a part of the host threw: for the log and `onError` alone. */
  readonly cause?: unknown
  /** Where it threw. */
  readonly at?: ErrorContext
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
