import type { HandlerRequest } from '../../../src/core/answers/result.ts'

/** What a caller can ask for: the columns of the matrix. */
export const ASKS = ['dispatch', 'dry run', 'run', 'batch'] as const
export type Ask = (typeof ASKS)[number]

/** What comes back for each: a status, and the code where it is a problem; what each post of a batch got in brackets. */
export type Answers = Readonly<Record<Ask, string>>

/** One row of the matrix: what is wrong with a request, and what is answered. */
export interface Fault {
  /** What is sent as `Authorization`, one line each. Default: `Bearer` and the token. */
  readonly authorization?: HandlerRequest['headers'][string] | null
  /** What is sent as a bearer token, unless something else is sent: no part of it must be told. */
  readonly token: string
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: Readonly<Record<string, string>>
  /** What the body of a dispatch says otherwise. */
  readonly event?: Readonly<Record<string, unknown>>
  /** The sessions whose runs are told of, a post for each in a batch. Default: `s1`. */
  readonly sessions?: readonly string[]
  /** Whose all that is written must be. Default: `default`. */
  readonly tenant?: string
  readonly answers: Answers
  /** What is answered over HTTP, where a parser of headers comes first. Default: the same. */
  readonly overHttp?: Answers
  /** What is answered through `anyOf`, where the others are asked too. Default: the same. */
  readonly throughAnyOf?: Answers
}

export type Faults = Readonly<Record<string, Fault>>

/** The same answer, whatever is asked for. */
export function always(answer: string): Answers {
  return { dispatch: answer, 'dry run': answer, run: answer, batch: answer }
}

export const UNAUTHORIZED: Answers = always('401 unauthorized')
export const INVALID: Answers = always('401 invalid_token')
export const UNAVAILABLE: Answers = always('503 auth_unavailable')
export const BROKEN: Answers = always('500 internal_error')

/** What an application is answered: everything. */
export const ALL: Answers = { dispatch: '202', 'dry run': '200', run: '201', batch: '200 [201]' }
/** What a session token is answered that grants what is asked for: never a dry run. */
export const GRANTED: Answers = { ...ALL, 'dry run': '403 insufficient_scope' }
/** What a session token is answered that does not grant the dispatch: its runs are its own matter. */
export const UNGRANTED: Answers = { ...GRANTED, dispatch: '403 insufficient_scope' }
