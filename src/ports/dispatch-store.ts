import type {
  Attempt,
  AttemptEnd,
  Content,
  Delivery,
  DeliveryReason,
  DeliveryStatus,
  Digest,
  Dispatch,
  DispatchAnswer,
  DispatchHead,
} from '../model/dispatch.ts'
import type { JsonObject } from '../model/json.ts'
import type { Recipient } from '../model/recipient.ts'
import type { SendLimit } from './delivery-policy.ts'
import type { DispatchQuery, Page } from './dispatch-query.ts'
import type { DispatchRemoval } from './dispatch-removal.ts'
import type { PlanSource, Replannable } from './plan-source.ts'

/** An event that is to join the digest which is open for it, or to open one. */
export interface NewDigest extends Pick<Digest, 'key' | 'max'> {
  readonly recipient: Recipient
  readonly eventData: JsonObject
}

/** A delivery that is to be stored. */
export interface NewDelivery
  extends Pick<
    Delivery,
    'deliveryId' | 'channel' | 'reason' | 'trace' | 'address' | 'content' | 'deferred' | 'concurrencyKey'
  > {
  readonly status: 'queued' | 'held' | 'skipped' | 'failed'
  /** With `queued`: due so many milliseconds from now, by the store's clock. Default: 0. */
  readonly delayMs?: number
  /** Counted the first time that the delivery is queued, however it is; one that is spent makes it `skipped`, `throttled`. */
  readonly limits?: readonly SendLimit[]
  /** With `queued`: it has no content of its own and is rendered when it is due. */
  readonly digest?: NewDigest
}

/** A dispatch that is to be stored: when it was accepted, its store says. */
export interface NewDispatch extends Omit<DispatchHead, 'createdAt'> {
  readonly deliveries: readonly NewDelivery[]
  /** With a delivery that failed in host code, and only then. Nothing but {@link DispatchStore.findReplannable} ever gives it. */
  readonly source?: PlanSource
}

/** What {@link DispatchStore.accept} stores, all of it or nothing. */
export interface Acceptance {
  readonly dispatch: NewDispatch
  /** How long each delivery is worth sending, in milliseconds from when it is first due; a held one as long as the queued. */
  readonly expiresInMs: number
  /** What the caller is answered, from the dispatch as it was stored. Pure, never throws, changes nothing of what it is shown. */
  readonly answer: (dispatch: Dispatch) => DispatchAnswer
  /** Absent: the caller sent no `Idempotency-Key`, and nothing is de-duplicated. */
  readonly idempotency?: {
    /** Unique within the tenant, 1-512 characters. */
    readonly key: string
    /** SHA-256 of the canonical body, hex. */
    readonly fingerprint: string
    readonly ttlMs: number
  }
  /** How many dispatches may be accepted under this key. Counted with those that policies name; what is not accepted does not count. */
  readonly quota?: SendLimit
}

/** What came of {@link DispatchStore.accept}. */
export type AcceptOutcome =
  | { readonly outcome: 'accepted'; readonly answer: DispatchAnswer }
  /** The key was there with the same fingerprint: nothing was stored. */
  | { readonly outcome: 'replayed'; readonly answer: DispatchAnswer }
  /** The key was there with another fingerprint: nothing was stored. */
  | { readonly outcome: 'key_reused' }
  /** Its `quota` is spent: nothing was stored. */
  | { readonly outcome: 'quota_spent' }

/** What is remembered of an idempotency key. */
export interface StoredAnswer {
  readonly fingerprint: string
  readonly answer: DispatchAnswer
}

/** Which deliveries {@link DispatchStore.claim} may hand out. */
export interface ClaimRequest {
  readonly leaseMs: number
  /**
   * By channel, how many of it at most; with 0 it only counts for `nextDueInMs`. Of channels that are not named nothing is handed
   * out: a worker claims nothing that it cannot send.
   */
  readonly limits: Readonly<Record<string, number>>
  /** Receivers that are being sent as much as they may be: nothing of these. */
  readonly busy: readonly { readonly channel: string; readonly concurrencyKey: string }[]
}

/** A delivery leased to one worker. */
export interface ClaimedDelivery {
  readonly deliveryId: string
  readonly channel: string
  readonly address: string
  /** Absent: the digest is to be rendered first. */
  readonly content?: Content
  /** With no `content`. */
  readonly digest?: Digest
  readonly concurrencyKey?: string
  readonly deferred?: true
  /** It was `sending`, and its lease ended without a word: its last worker has died, or hangs. For the log. Default: it is not known. */
  readonly reclaimed?: true
  /** This attempt included: 1 for the first. */
  readonly attempts: number
  /** Those of them that came before the last {@link DispatchStore.retry}: they count for nothing in the schedule. Default: 0. */
  readonly attemptsBefore?: number
  /** The attempts before this one. */
  readonly history: readonly Attempt[]
  /** Milliseconds since it was accepted. */
  readonly waitedMs: number
  /** Milliseconds that it is still worth sending. */
  readonly expiresInMs: number
  /** Proves the lease in {@link DispatchStore.settle}; a new one for every claim. */
  readonly fence: string
  readonly dispatch: DispatchHead
}

/** A delivery whose status changed. */
export interface DeliveryChange {
  readonly deliveryId: string
  readonly channel: string
  readonly status: DeliveryStatus
  readonly reason?: DeliveryReason
  readonly attempts: number
}

/** What a claim found. */
export interface Claims {
  readonly deliveries: readonly ClaimedDelivery[]
  /** What was found to be past its expiry, with the held deliveries that went with it. */
  readonly expired: readonly (DeliveryChange & { readonly dispatch: DispatchHead })[]
  /** Milliseconds until the next delivery that may be claimed is due or its lease ends, if one is known; 0: there are more now. */
  readonly nextDueInMs?: number
}

/** A lease on a delivery. */
export interface LeaseToken {
  readonly deliveryId: string
  readonly fence: string
}

/** How a lease ended. Without `attempt` nothing was tried: the attempt is taken back from the count and leaves no trace. */
export type Settlement = LeaseToken & { readonly attempt?: AttemptEnd } & (
    | { readonly to: 'sent' }
    | {
        readonly to: 'queued'
        /** Due again so many milliseconds from now, by the store's clock. */
        readonly delayMs: number
        /** What the digest came to, rendered: from now on no event joins it. */
        readonly content?: Content
      }
    | { readonly to: 'failed' | 'skipped'; readonly reason: DeliveryReason }
  )

/** What came of a settlement: `live` is `false` when the lease had gone to another, and nothing was changed. */
export type Settled =
  | { readonly live: false }
  | {
      readonly live: true
      /** The deliveries of the dispatch that this skipped or promoted. */
      readonly others: readonly DeliveryChange[]
      /** It was to be queued again, and became `cancelled`, since that was asked for meanwhile. */
      readonly cancelled?: true
    }

/** What {@link DispatchStore.cancel} or {@link DispatchStore.retry} changed, and the dispatch as it is now. */
export interface DispatchChange {
  readonly changed: readonly DeliveryChange[]
  readonly dispatch: Dispatch
}

/** What {@link DispatchStore.retry} tries again, and for how long. */
export interface RetryRequest {
  /** Only this one. Default: all. */
  readonly channel?: string
  readonly expiresInMs: number
}

/** What came of {@link DispatchStore.replan}. `conflict`: what was to be replaced has changed meanwhile, and nothing was done. */
export type ReplanOutcome = ({ readonly outcome: 'replanned' } & DispatchChange) | { readonly outcome: 'conflict' }

/**
 * Keeps dispatches and their deliveries. The delivery row is the job: there is no other queue to disagree with.
 *
 * Every method throws when the store is unavailable (the caller gets 503 `store_unavailable`) and must then have changed
 * nothing, or all of it. The store's own clock decides what is due, when a lease ends and what has expired, and dates all that is
 * recorded: when a dispatch was accepted (`createdAt`), and when an attempt began and ended. Nothing that
 * is returned may be aliased: a caller that changes it must not change what is stored.
 */
export interface DispatchStore {
  /**
   * What is remembered of a key, if it is: so that a repeat is answered whatever has changed since. {@link accept} decides all
   * the same.
   */
  recall(tenant: string, key: string): Promise<StoredAnswer | undefined>
  /**
   * Stores a dispatch with its deliveries, and the idempotency key with them, in one transaction. Of any number of
   * concurrent calls with one tenant and key, exactly one is `accepted`, and of any number with one tenant and quota no more
   * than that; once it resolves, nothing of it may be lost. A key that is there is looked at before the quota.
   *
   * In the same transaction, for each `queued` delivery: one with a digest joins the delivery whose digest is open (same
   * tenant, event type, recipient, channel, address and key; `queued`, not rendered, not due, not full; the one opened first), which then belongs to both
   * dispatches and is worth sending for as long as the longer of the two; otherwise its limits are counted. When they are spent it is `skipped`, `throttled`, and with the route
   * `first` the next `held` one is promoted, to be due when that one was.
   */
  accept(acceptance: Acceptance): Promise<AcceptOutcome>
  /**
   * Leases due deliveries, oldest due first: `queued` ones whose time has come, and `sending` ones whose lease has ended.
   * Each is handed to exactly one caller, becomes `sending` and has its attempts counted, before this resolves.
   * What is past its expiry, of whatever channel, becomes `expired` instead, and so do the `held` deliveries of its dispatch.
   */
  claim(request: ClaimRequest): Promise<Claims>
  /** Lets a lease last `leaseMs` from now. Resolves to `false`, and changes nothing, unless it is live, as for {@link settle}. */
  renew(lease: LeaseToken, leaseMs: number): Promise<boolean>
  /**
   * Ends a lease. Changes nothing unless the delivery is `sending` under exactly this fence and the lease has not been handed
   * to another. In the same transaction the dispatch's `held` deliveries follow: `sent` makes them `skipped`,
   * `fallback_unneeded`; `failed` and `skipped` promote the first of them whose limits are not spent: it becomes `queued`, due now.
   */
  settle(settlement: Settlement): Promise<Settled>
  /**
   * Makes the `queued` and `held` deliveries of a dispatch `cancelled`. One that is `sending` it leaves, but does not let be
   * queued again until a retry: what would make it so makes it `cancelled`. Of a digest with other events it only takes out this dispatch's,
   * which keeps a `cancelled` record under that id; one that is rendered is `cancelled` once all its dispatches have asked for it.
   * `undefined`: that tenant has no such dispatch.
   */
  cancel(tenant: string, dispatchId: string): Promise<DispatchChange | undefined>
  /**
   * Makes `failed` and `expired` deliveries that have an address, and something to say, `queued` again: due now, worth sending for
   * `expiresInMs`, with a schedule that begins anew. With the route `first`, only where nothing of the dispatch is sent or may
   * yet be, and then the first of them is `queued` and the others `held`. Limits that were never counted are now. `undefined`: that tenant has no such dispatch.
   */
  retry(tenant: string, dispatchId: string, options: RetryRequest): Promise<DispatchChange | undefined>
  /** The dispatch of that tenant if it can be planned again: its `source` is there. Otherwise `undefined`. */
  findReplannable(tenant: string, dispatchId: string): Promise<Replannable | undefined>
  /**
   * Replaces deliveries that failed in host code, and does what {@link retry} does, in one transaction: a compare-and-set. Of any
   * number of concurrent calls with one version exactly one replaces something; the others are a `conflict`. So is a delivery that
   * may not be replaced: one may be that failed with `template_error` or `condition_error` and has neither content nor a digest, by
   * one of its id and channel. Others are left as they are.
   *
   * What is `queued` joins a digest or is counted and throttled as in {@link accept}, and is due and expires as if accepted now. With the
   * route `first` it waits with what is retried, in the order of the dispatch, and the first that fits is `queued`; where something of
   * the dispatch is sent or may yet be, nothing changes. The `source` is removed with the last delivery that failed in host code.
   */
  replan(
    tenant: string,
    dispatchId: string,
    version: number,
    deliveries: readonly NewDelivery[],
    options: RetryRequest,
  ): Promise<ReplanOutcome | undefined>
  /** The dispatch of that tenant, or `undefined`. */
  findDispatch(tenant: string, dispatchId: string): Promise<Dispatch | undefined>
  listDispatches(query: DispatchQuery): Promise<Page<Dispatch>>
  /**
   * Removes dispatches of which nothing is `queued`, `sending` or `held`, with their deliveries; a delivery that others have too
   * stays theirs. What is remembered of idempotency keys and counted for limits stays as long as it would have. Resolves to how
   * many it removed: fewer than `limit`, and nothing is left that may go.
   */
  removeDispatches(removal: DispatchRemoval): Promise<number>
  /**
   * Frees the space of idempotency keys and limits whose time is over, of all tenants: at most `limit` of each. Nothing that
   * still counts changes. Resolves to a number below `limit` once there are no more. Default: the store does so by itself, in time.
   */
  forgetExpired?(limit: number): Promise<number>
  /**
   * Resolves once the store can be used, and throws a `SallyportError` (`config_invalid`) that says what to do where it cannot: a
   * database that is not migrated, say. Default: it always can.
   */
  ready?(): Promise<void>
}
