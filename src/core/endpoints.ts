import type { Operation, Principal } from '../model/principal.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { ErrorOperation, FaultLine } from './answers/report-fault.ts'
import type { HandlerRequest, HandlerResult, Refused } from './answers/result.ts'
import type { Admission } from './load/admission.ts'
import type { Load } from './load/load-limits.ts'

/** Action of an endpoint. A batch, and the exchange of a token, need the same permission as recording a run. */
export type Action = 'dispatch' | 'session_run' | 'session_run_batch' | 'session_token'

/** Action of the read API: a read, or a change of stored data. For applications only. */
export type ReadAction =
  | 'list_dispatches'
  | 'get_dispatch'
  | 'cancel_dispatch'
  | 'retry_dispatch'
  | 'list_suppressions'
  | 'find_recipient'
  | 'find_suppressions'
  | 'add_suppression'
  | 'remove_suppressions'
  | 'list_sessions'
  | 'get_session'
  | 'session_timeline'
  | 'session_runs'
  | 'get_run'
  | 'list_runs'
  | 'list_token_uses'
  | 'get_statistics'
  | 'list_events'
  | 'check_budgets'

/** Permission that a request needs. */
export interface Requested {
  readonly action: Action | ReadAction
  /** Operation that the token must allow. */
  readonly operation: Operation
}

/** Endpoint without a bearer token: the proof of a request is in its body or its path. */
export type OpenAction = 'feedback' | 'unsubscribe' | 'console'

/** A request to an open endpoint. */
export interface OpenRequest {
  readonly method: string
  /** Names in lower case. */
  readonly headers: HandlerRequest['headers']
  /** Path and query as the host received them. */
  readonly url: string
  /** The exact bytes; empty for `GET` and `HEAD`. */
  readonly body: Uint8Array
  /** Arguments of the host's framework: Express's `req`, Koa's context, or a `Request` and the arguments after it. */
  readonly given: readonly unknown[]
}

/** A request whose body is not read yet. */
export type OpenHead = Omit<OpenRequest, 'body'>

/** Answers a request to an open endpoint. Never rejects. */
export type OpenHandler = (request: OpenRequest) => Promise<HandlerResult<unknown> | OpenAnswer>

/** An open endpoint that exists. */
export interface OpenEndpoint {
  readonly handle: OpenHandler
  /** Requests with the same name share their places and bodies. Default: all of the action. */
  readonly name?: string
  /** Limit of the body. Default: that of the route. */
  readonly maxBytes?: number | undefined
}

/** An answer without its Content-Length. */
export interface OpenAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

/** Steps of a request, in the order of calls: authenticate by the headers, admit, read the body, recheck, handle. None throws. */
export interface Endpoints {
  readonly clock: Clock
  readonly logger: Logger
  /** Limits the requests in each of these steps. */
  readonly load: Load
  /** True if the endpoint exists; otherwise every request gets 404 `not_found`. Absent: all endpoints exist. */
  handles?(action: Requested['action']): boolean
  authenticate(
    headers: HandlerRequest['headers'],
    requested: Requested,
  ): Principal | Refused | Promise<Principal | Refused>
  /** Counts the request of an authenticated caller. Absent: no rate limit. */
  admit?(principal: Principal, requested: Requested): Promise<Admission | Refused>
  /** Refuses a principal that was revoked after `authenticate`. Synchronous while the list of revocations is fresh. */
  recheck(principal: Principal, requested: Requested): Refused | undefined | Promise<Refused | undefined>
  /** @param admission The result of `admit`, if there is a rate limit. */
  handle(
    action: Requested['action'],
    principal: Principal,
    request: HandlerRequest,
    admission?: Admission,
  ): Promise<HandlerResult<unknown>>
  /**
   * Finds an open endpoint, or refuses. `undefined`: 404 `not_found`. Without an endpoint, the body is not read. Absent: there is none.
   * Neither this nor the handler rejects.
   *
   * @param parameter The last part of the path, decoded.
   */
  open?(
    action: OpenAction,
    parameter: string,
    request: OpenHead,
  ): OpenEndpoint | Refused | undefined | Promise<OpenEndpoint | Refused | undefined>
  /** Answers a request that the transport itself refuses. */
  refuse(refused: Refused): HandlerResult<never>
  /** Logs an error of host code and tells `onError`. */
  report(cause: unknown, operation: ErrorOperation, line: FaultLine): void
  /** True while the host stops: every connection ends with its next answer. */
  isStopping(): boolean
  /** True while {@link Endpoints.deliver} has work besides dispatches that were just accepted. */
  hasWork(): boolean
  /** Sends due deliveries and stores the uses of tokens: for a transport that can run after its answer. */
  deliver(): Promise<void>
}
