import type { Content, DeliveryReason, Dispatch, DispatchAnswer } from '../model/dispatch.ts'

/** What {@link DispatchStore.accept} stores, all of it or nothing. */
export interface Acceptance {
  /** With deliveries that are `queued` (due at once), `held`, `skipped` or `failed`, and have had no attempt. */
  readonly dispatch: Dispatch
  /** How long queued and held deliveries are worth sending, in milliseconds. */
  readonly expiresInMs: number
  /** Absent: the caller sent no `Idempotency-Key`, and nothing is de-duplicated. */
  readonly idempotency?: {
    /** Unique within the tenant. */
    readonly key: string
    /** SHA-256 of the canonical body, hex. */
    readonly fingerprint: string
    readonly ttlMs: number
    /** What a repeated post of the key is answered. */
    readonly answer: DispatchAnswer
  }
}

/** What came of {@link DispatchStore.accept}. */
export type AcceptOutcome =
  | { readonly outcome: 'accepted' }
  /** The key was there with the same fingerprint: nothing was stored. */
  | { readonly outcome: 'replayed'; readonly answer: DispatchAnswer }
  /** The key was there with another fingerprint: nothing was stored. */
  | { readonly outcome: 'key_reused' }

/** What is remembered of an idempotency key. */
export interface Remembered {
  readonly fingerprint: string
  readonly answer: DispatchAnswer
}

/** Which deliveries {@link DispatchStore.claim} may hand out. */
export interface ClaimRequest {
  readonly limit: number
  readonly leaseMs: number
  /** Only deliveries of these channels: a worker claims nothing that it cannot send. */
  readonly channels: readonly string[]
}

/** A delivery leased to one worker. */
export interface ClaimedDelivery {
  readonly deliveryId: string
  readonly channel: string
  readonly address: string
  readonly content: Content
  /** This attempt included: 1 for the first. */
  readonly attempts: number
  /** Proves the lease in {@link DispatchStore.settle}; a new one for every claim. */
  readonly fence: string
  readonly dispatch: Omit<Dispatch, 'deliveries'>
}

/** What a claim found. */
export interface Claims {
  readonly deliveries: readonly ClaimedDelivery[]
  /** Milliseconds until the next delivery of these channels is due or its lease ends, if one is known; 0: there are more now. */
  readonly nextDueInMs?: number
}

/** How an attempt ended. */
export type Settlement = { readonly deliveryId: string; readonly fence: string } & (
  | {
      readonly to: 'sent'
      readonly providerMessageId?: string
      /** `skip`: the dispatch's `held` deliveries become `skipped`, `fallback_unneeded`. */
      readonly held: 'skip' | 'keep'
    }
  | {
      readonly to: 'queued'
      /** Due again so many milliseconds from now, by the store's clock. */
      readonly delayMs: number
      readonly code: string
    }
  | {
      readonly to: 'failed'
      readonly reason: DeliveryReason
      readonly code: string
      /** `promote`: the dispatch's first `held` delivery becomes `queued`, due now. */
      readonly held: 'promote' | 'keep'
    }
)

/** Which dispatches {@link DispatchStore.listDispatches} gives. */
export interface DispatchQuery {
  readonly tenant: string
  readonly sessionId?: string
  /** At most so many. */
  readonly limit: number
  /** The `nextCursor` of the page before. */
  readonly cursor?: string
}

/** One page of a list. `nextCursor` is absent on the last. */
export interface Page<T> {
  readonly items: readonly T[]
  readonly nextCursor?: string
}

/**
 * Keeps dispatches and their deliveries. The delivery row is the job: there is no other queue to disagree with.
 *
 * Every method throws when the store is unavailable (the caller gets 503 `store_unavailable`) and must then have changed
 * nothing, or all of it. The store's own clock decides what is due, when a lease ends and what has expired. Nothing that
 * is returned may be aliased: a caller that changes it must not change what is stored.
 */
export interface DispatchStore {
  /**
   * What is remembered of a key, if it is: so that a repeat is answered whatever has changed since. {@link accept} decides all
   * the same.
   */
  recall(tenant: string, key: string): Promise<Remembered | undefined>
  /**
   * Stores a dispatch with its deliveries, and the idempotency key with them, in one transaction. Of any number of
   * concurrent calls with one tenant and key, exactly one is `accepted`; once it resolves, nothing of it may be lost.
   */
  accept(acceptance: Acceptance): Promise<AcceptOutcome>
  /**
   * Leases due deliveries, oldest due first: `queued` ones whose time has come, and `sending` ones whose lease has ended.
   * Each is handed to exactly one caller, becomes `sending` and has its attempts counted, before this resolves.
   * What is past its expiry becomes `expired` instead, and so do the `held` deliveries of its dispatch.
   */
  claim(request: ClaimRequest): Promise<Claims>
  /**
   * Ends a lease. Resolves to `false`, and changes nothing, unless the delivery is `sending` under exactly this fence and
   * the lease has not been handed to another.
   */
  settle(settlement: Settlement): Promise<boolean>
  /** The dispatch of that tenant, or `undefined`. */
  findDispatch(tenant: string, dispatchId: string): Promise<Dispatch | undefined>
  /** Newest first. */
  listDispatches(query: DispatchQuery): Promise<Page<Dispatch>>
}
