import type { Operation, Principal } from '../model/principal.ts'
import type { TokenOperation } from '../model/token-use.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { ErrorOperation, FaultLine } from './answers/report-fault.ts'
import type { HandlerRequest, HandlerResult, Refused } from './answers/result.ts'
import type { Admission } from './load/admission.ts'
import type { Load } from './load/load-limits.ts'

/** Name, path and permission of an action: what its endpoint needs before the body. */
export interface ActionRoute {
  /** Such as `list_dispatches`. */
  readonly name: string
  readonly method: 'GET' | 'POST'
  /** Relative to the base path. `{name}` stands for one part, a parameter. */
  readonly path: string
  /** Operation that the token must allow. */
  readonly operation: Operation
  /** Name in the log of token uses. Default: the operation. */
  readonly use?: TokenOperation
  /** Limit of the body. 0: no body is read. */
  readonly maxBytes: number
  /**
   * True: it may wait for long. It holds no place in flight then, so it must limit its calls itself; a token that is revoked meanwhile gets no
   * answer of it. Default: `false`.
   */
  readonly waits?: boolean
  /** `false`: the console does not offer it. Default: it offers those of the operations `read` and `manage`. */
  readonly console?: boolean
}

/** A request of an authenticated caller. */
export interface ActionCall {
  readonly principal: Principal
  readonly request: HandlerRequest
  /** Absent: there is no rate limit. */
  readonly admission?: Admission | undefined
  /** A console asks for this user, as its `access` named it; empty: it named none. Absent: no console asks. */
  readonly consoleUser?: string | undefined
  /** Takes the id of what the request made, for the log of token uses. */
  onMade?(id: string): void
}

/** An endpoint for callers with a bearer token. */
export interface Action extends ActionRoute {
  /** Absent: the host does not offer it, and answers 404 `not_found`. */
  run?(call: ActionCall): HandlerResult<unknown> | Refused | Promise<HandlerResult<unknown> | Refused>
  /** Counts what a request changed, by its answer. Absent: nothing that a console reports. */
  changed?(answer: never): number
}

/** An endpoint without a bearer token: the proof of a request is in its path, its head or its body. */
export interface OpenAction {
  /** Such as `feedback`. */
  readonly name: string
  /** Methods that it answers. Empty: all. */
  readonly methods: readonly string[]
  /** Relative to the base path. One more part follows: the parameter. */
  readonly path: string
  /** Name of the parameter, for log lines. */
  readonly parameter: string
  /** Limit of the body. */
  readonly maxBytes: number
  /**
   * `bytes`: a body that the host has parsed is refused, because its exact bytes are lost. `form`, `json`: it is encoded again.
   */
  readonly accepts: 'bytes' | 'form' | 'json'
  /**
   * Finds the endpoint of a parameter, or refuses. `undefined`: 404 `not_found`. Without an endpoint, the body is not read. That of a plugin
   * may reject, as may its handler: its errors are answered as those of other endpoints.
   *
   * @param parameter The last part of the path, decoded.
   */
  find(
    parameter: string,
    request: OpenHead,
  ): OpenEndpoint | Refused | undefined | Promise<OpenEndpoint | Refused | undefined>
}

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

/** Answers a request to an open endpoint. */
export type OpenHandler = (request: OpenRequest) => Promise<HandlerResult<unknown> | OpenAnswer | Refused>

/** An open endpoint that exists. */
export interface OpenEndpoint {
  readonly handle: OpenHandler
  /** Requests with the same name share their places and bodies. Default: all of the action. */
  readonly name?: string
  /** Limit of the body. Default: that of the action. */
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
  /** Endpoints for callers with a bearer token. */
  readonly actions: readonly Action[]
  /** Endpoints without a bearer token. Default: none. */
  readonly open?: readonly OpenAction[]
  authenticate(
    headers: HandlerRequest['headers'],
    action: ActionRoute,
  ): Principal | Refused | Promise<Principal | Refused>
  /** Counts the request of an authenticated caller. Absent: no rate limit. */
  admit?(principal: Principal, action: ActionRoute): Promise<Admission | Refused>
  /** Refuses a principal that was revoked after `authenticate`. Synchronous while the list of revocations is fresh. */
  recheck(principal: Principal, action: ActionRoute): Refused | undefined | Promise<Refused | undefined>
  /** @param more `admission`: the result of `admit`, if there is a rate limit. */
  handle(
    action: Action,
    principal: Principal,
    request: HandlerRequest,
    more?: Pick<ActionCall, 'admission' | 'consoleUser'>,
  ): Promise<HandlerResult<unknown>>
  /** Answers a request that the transport itself refuses. */
  refuse(refused: Refused): HandlerResult<never>
  /** Logs an error of host code and tells `onError`. */
  report(cause: unknown, operation: ErrorOperation, line: FaultLine): void
  /** Names of the plugins of the host. */
  readonly plugins?: readonly string[]
  /** True while the host stops: every connection ends with its next answer. */
  isStopping(): boolean
  /** True while {@link Endpoints.deliver} has work besides dispatches that were just accepted. */
  hasWork(): boolean
  /** Sends due deliveries and stores the uses of tokens: for a transport that can run after its answer. */
  deliver(): Promise<void>
}
