import type { Operation, Principal } from '../model/principal.ts'
import type { Clock } from '../ports/clock.ts'
import type { Logger } from '../ports/logger.ts'
import type { HandlerRequest, HandlerResult, Refused } from './answers/result.ts'
import type { Load } from './load/load-limits.ts'

/** The action of an endpoint: an operation or a batch of one. A batch needs the same permission as the operation. */
export type Action = Operation | 'session_run_batch'

/**
 * The steps of a request, which a transport calls in this order: authenticate by the headers, admit, read the body, handle. None of them
 * throws.
 */
export interface Endpoints {
  readonly clock: Clock
  readonly logger: Logger
  /** Bounds the requests in each of these steps. */
  readonly load: Load
  /** Whether the endpoint exists; otherwise every request gets 404 `not_found`. Absent: all endpoints exist. */
  handles?(action: Action): boolean
  authenticate(headers: HandlerRequest['headers'], operation: Operation): Promise<Principal | Refused>
  /** Counts the request of an authenticated caller; gives the headers of every later answer. Absent: no rate limit. */
  admit?(principal: Principal, operation: Operation): Promise<Readonly<Record<string, string>> | Refused>
  handle(action: Action, principal: Principal, request: HandlerRequest): Promise<HandlerResult<unknown>>
  /** The answer to a request that the transport itself refuses. */
  refuse(refused: Refused): HandlerResult<never>
  /** Whether the host is stopping: every connection ends with its next answer. */
  isStopping(): boolean
  /** Whether run events are being dispatched, which queues deliveries. */
  isPublishing(): boolean
  /** Sends due deliveries: for a transport that can run on after its answer. */
  deliver(): Promise<void>
}
