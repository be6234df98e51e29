import type { Dispatch } from '../model/dispatch.ts'
import type { JsonObject } from '../model/json.ts'
import type { Recipient } from '../model/recipient.ts'
import type { PlanSource } from './plan-source.ts'

/** Everything that is stored of a dispatch. */
export interface DispatchData {
  readonly dispatch: Dispatch
  /** Input of planning, while a delivery can be planned again. */
  readonly source?: PlanSource
  /** Its events in digests, with the recipients as resolved when the digests were opened. */
  readonly digests: readonly {
    readonly deliveryId: string
    readonly recipient: Recipient
    readonly eventData: JsonObject
  }[]
}

/** Answers of idempotency keys to redact: those about any of the dispatches, and those to this recipient. */
export interface AnswerErasure {
  readonly tenant: string
  readonly recipient: string
  /** At most 500. */
  readonly dispatchIds: readonly string[]
}

/** Numbers of dispatches that were erased, and of their deliveries that were cancelled. */
export interface ErasedDispatches {
  readonly dispatches: number
  readonly cancelled: number
}

/** Reads and erases personal data of dispatches. Part of `DispatchStore`. */
export interface DispatchErasureStore {
  /** Finds everything that is stored of the tenant's dispatch. */
  findDispatchData(tenant: string, dispatchId: string): Promise<DispatchData | undefined>
  /**
   * Erases the personal data of a dispatch and of those that share deliveries with it, in one transaction. Their `queued`, `held` and
   * `sending` deliveries become `cancelled`; a lease of them is no longer live. The recipient becomes `erased`. Locale, addresses,
   * content, traces, concurrency keys, limits that are not counted yet, data of digests and sources of plans are removed. Ids, event types,
   * sessions, times, statuses, attempts and the provider's message ids remain. `undefined`: the tenant
   * has no such dispatch, or it is erased already.
   */
  eraseDispatch(tenant: string, dispatchId: string): Promise<ErasedDispatches | undefined>
  /**
   * Redacts stored answers of idempotency keys: their recipient becomes `erased`, and their deliveries lose the traces. The keys remain: a
   * repeated request gets the redacted answer and causes nothing. Resolves to the number of answers that changed.
   */
  redactAnswers(erasure: AnswerErasure): Promise<number>
}
