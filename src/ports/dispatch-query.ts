import type { DispatchStatus } from '../model/dispatch.ts'

/** Filter of `DispatchStore.listDispatches`: dispatches that match every given member. */
export interface DispatchQuery {
  readonly tenant: string
  readonly sessionId?: string | undefined
  readonly eventType?: string | undefined
  /** Exactly as in the request. */
  readonly recipient?: string | undefined
  readonly status?: DispatchStatus | undefined
  /** Accepted at or after this instant, epoch milliseconds by the store's clock. */
  readonly since?: number | undefined
  /** Accepted before this instant, epoch milliseconds by the store's clock. */
  readonly until?: number | undefined
  /** Order by acceptance. Default: `newest`. */
  readonly first?: 'oldest' | 'newest' | undefined
  /** The most dispatches to give. */
  readonly limit: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

/**
 * One page of a list (keyset pagination). The last page has no `nextCursor`. A page of one filter is full while enough items
 * match. A page of several filters may be short or empty and still have a `nextCursor`: a store limits what it reads for one page.
 */
export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor?: string
}
