import type { Operation, Principal } from '../model/principal.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { HandlerRequest, HandlerResult, Refused } from './result.ts'

/** What an endpoint does: an operation, or many of a kind at once. Many ask no more of a token than one. */
export type Action = Operation | 'session_run_batch'

/**
 * What a transport drives, in this order: authenticate by the headers, only then read the body, then handle it. None of it
 * throws.
 */
export interface Endpoints {
  readonly clock: Clock
  readonly logger: Logger
  authenticate(headers: HandlerRequest['headers'], operation: Operation): Promise<Principal | Refused>
  handle(action: Action, principal: Principal, request: HandlerRequest): Promise<HandlerResult<unknown>>
  /** The answer for something that the transport itself refuses. */
  refuse(refused: Refused): HandlerResult<never>
  /** Whether events of runs are being dispatched: there will be something to deliver. */
  isTelling(): boolean
  /** Delivers what is due: for a transport that may go on after it has answered. */
  deliver(): Promise<void>
}
