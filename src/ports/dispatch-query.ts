import type { DispatchStatus } from '../model/dispatch.ts'
import type { UnsentReason } from '../model/unsent-reason.ts'

/** Filter of `DispatchStore.listDispatches`: dispatches that match every given member. */
export interface DispatchQuery {
  readonly tenant: string
  readonly sessionId?: string | undefined
  readonly eventType?: string | undefined
  readonly recipient?: string | undefined
  readonly status?: DispatchStatus | undefined
  /** Has a delivery of this channel. */
  readonly channel?: string | undefined
  /** Has a delivery with this reason; `expired`: with this status. With `channel`, one delivery has both. */
  readonly reason?: UnsentReason | undefined
  /** Accepted at or after this instant, epoch milliseconds by the store's clock. */
  readonly since?: number | undefined
  /** Accepted before this instant, epoch milliseconds by the store's clock. */
  readonly until?: number | undefined
  /** Order by acceptance. Default: `newest`. */
  readonly first?: 'oldest' | 'newest' | undefined
  readonly limit: number
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
}

/** One page of a list (keyset pagination). The last has no `nextCursor`. With several filters, a page may be short or empty. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor?: string
}
