import type { Operation, Principal } from '../model/principal.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { HandlerRequest, HandlerResult, Refused } from './answers/result.ts'
import type { Load } from './load/load-limits.ts'

/** What an endpoint does: an operation, or many of a kind at once. Many ask no more of a token than one. */
export type Action = Operation | 'session_run_batch'

/**
 * What a transport drives, in this order: authenticate by the headers, be admitted, only then read the body, then handle it. None of
 * it throws.
 */
export interface Endpoints {
  readonly clock: Clock
  readonly logger: Logger
  /** Bounds what is taken at once, in each of these steps. */
  readonly load: Load
  /** Whether there is such an endpoint: where not, everybody is answered 404 `not_found`. Absent: there are all of them. */
  handles?(action: Action): boolean
  authenticate(headers: HandlerRequest['headers'], operation: Operation): Promise<Principal | Refused>
  /**
   * Counts the request of a caller that is known: gives the headers that every answer from now on carries. Absent: nothing is
   * limited.
   */
  admit?(principal: Principal, operation: Operation): Promise<Readonly<Record<string, string>> | Refused>
  handle(action: Action, principal: Principal, request: HandlerRequest): Promise<HandlerResult<unknown>>
  /** The answer for something that the transport itself refuses. */
  refuse(refused: Refused): HandlerResult<never>
  /** Whether the host stops: every connection is to end with its next answer. */
  isStopping(): boolean
  /** Whether events of runs are being dispatched: there will be something to deliver. */
  isPublishing(): boolean
  /** Delivers what is due: for a transport that may go on after it has answered. */
  deliver(): Promise<void>
}
