import type { HandlerRequest } from '../../../src/core/answers/result.ts'

/** Kinds of request: the columns of the matrix. */
export const ASKS = ['dispatch', 'dry run', 'run', 'batch'] as const
export type Ask = (typeof ASKS)[number]

/** Expected answer to each: the status, the code of a problem, and the results of a batch in brackets. */
export type Answers = Readonly<Record<Ask, string>>

/** One row of the matrix: a fault in a request, and the expected answers. */
export interface Fault {
  /** The lines of the `Authorization` header. Default: `Bearer` and the token. */
  readonly authorization?: HandlerRequest['headers'][string] | null
  /** The bearer token, unless `authorization` replaces it; no answer may hold a part of it. */
  readonly token: string
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** Overrides members of the dispatch body. */
  readonly event?: Readonly<Record<string, unknown>>
  /** The sessions of the posted runs, one post each in a batch. Default: `s1`. */
  readonly sessions?: readonly string[]
  /** The tenant of all writes. Default: `default`. */
  readonly tenant?: string
  readonly answers: Answers
  /** Answers over HTTP, where a header parser comes first. Default: `answers`. */
  readonly overHttp?: Answers
  /** Answers through `anyOf`, which asks the other verifiers too. Default: `answers`. */
  readonly throughAnyOf?: Answers
}

export type Faults = Readonly<Record<string, Fault>>

/** The same answer to every request. */
export function always(answer: string): Answers {
  return { dispatch: answer, 'dry run': answer, run: answer, batch: answer }
}

export const UNAUTHORIZED: Answers = always('401 unauthorized')
export const INVALID: Answers = always('401 invalid_token')
export const UNAVAILABLE: Answers = always('503 auth_unavailable')
export const BROKEN: Answers = always('500 internal_error')

/** Answers to an application, which may do everything. */
export const ALL: Answers = { dispatch: '202', 'dry run': '200', run: '201', batch: '200 [201]' }
/** Answers to a session token that grants the requests; a dry run is never granted. */
export const GRANTED: Answers = { ...ALL, 'dry run': '403 insufficient_scope' }
/** Answers to a session token without a grant for the dispatch: it may still record runs. */
export const UNGRANTED: Answers = { ...GRANTED, dispatch: '403 insufficient_scope' }
