import type { Delivery, DispatchHead } from '../model/dispatch.ts'
import type { JsonObject } from '../model/json.ts'

/** What a dispatch is planned from, beside its head. */
export interface PlanSource {
  /** As it was sent; the event's schema reads it once more when the dispatch is planned again. */
  readonly eventData: JsonObject
  /** The session of the token that asked for it. Absent: an application did. */
  readonly session?: string
  /** How long after acceptance it was to be sent, in milliseconds. Absent: as the event says. */
  readonly delayMs?: number
}

/** A dispatch that can be planned again, since deliveries of it failed in the host's own code. */
export interface Replannable {
  readonly dispatch: DispatchHead
  /** The deliveries that may be replaced, in the order of the dispatch; never none. */
  readonly failed: readonly Pick<Delivery, 'deliveryId' | 'channel'>[]
  readonly source: PlanSource
  /** Another after every replan that changed something. */
  readonly version: number
  /** Milliseconds since the dispatch was accepted, by the store's clock. */
  readonly waitedMs: number
}
