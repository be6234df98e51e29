import type { DispatchStatus } from '../model/dispatch.ts'

/** Which dispatches `DispatchStore.listDispatches` gives: those that fit all that is said. */
export interface DispatchQuery {
  readonly tenant: string
  readonly sessionId?: string | undefined
  readonly eventType?: string | undefined
  /** As it was sent. */
  readonly recipient?: string | undefined
  readonly status?: DispatchStatus | undefined
  /** Accepted then or later, epoch milliseconds by the store's clock. */
  readonly since?: number | undefined
  /** Accepted before then, epoch milliseconds by the store's clock. */
  readonly until?: number | undefined
  /** By when they were accepted, whatever their ids. Default: `newest`. */
  readonly first?: 'oldest' | 'newest' | undefined
  /** At most so many. */
  readonly limit: number
  /** The `nextCursor` of the page before. */
  readonly cursor?: string | undefined
}

/**
 * One page of a list. `nextCursor` is absent on the last. A page of one filter is full where there is enough that fits; one of
 * several filters may be shorter, even empty, with a `nextCursor`: a store bounds what it reads for one page.
 */
export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor?: string
}
