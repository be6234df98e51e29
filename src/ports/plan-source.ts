import type { Delivery, DispatchHead } from '../model/dispatch.ts'
import type { JsonObject } from '../model/json.ts'

/** Input of planning, without the head of the dispatch. */
export interface PlanSource {
  /** As sent. Validated again when the dispatch is planned again. */
  readonly eventData: JsonObject
  /** Session of the requesting token. Absent: an application made the request. */
  readonly session?: string
  /** Requested delay after acceptance, in milliseconds. Absent: the delay of the event. */
  readonly delayMs?: number
}

/** A dispatch that can be planned again, because deliveries of it failed in host code. */
export interface Replannable {
  readonly dispatch: DispatchHead
  /** Deliveries that may be replaced, in the order of the dispatch; at least one. */
  readonly failed: readonly Pick<Delivery, 'deliveryId' | 'channel'>[]
  readonly source: PlanSource
  /** Changes with every replan that changed something. */
  readonly version: number
  /** Milliseconds since acceptance, by the store's clock. */
  readonly waitedMs: number
}
