import type { Attempt, AttemptEnd } from '../model/attempt.ts'
import type {
  Content,
  Delivery,
  DeliveryReason,
  Digest,
  Dispatch,
  DispatchAnswer,
  DispatchHead,
} from '../model/dispatch.ts'
import type { DeliveryChange } from '../model/dispatch-results.ts'
import type { JsonObject } from '../model/json.ts'
import type { Recipient } from '../model/recipient.ts'
import type { StoredWait } from '../model/waiting.ts'
import type { SendLimit } from './delivery-policy.ts'
import type { DispatchErasureStore } from './dispatch-erasure.ts'
import type { DispatchQuery, Page } from './dispatch-query.ts'
import type { DispatchRemoval } from './dispatch-removal.ts'
import type { DueCount, DueQuery } from './due-query.ts'
import type { PlanSource, Replannable } from './plan-source.ts'

/** An event that joins the open digest with its key, or opens one. */
export interface NewDigest extends Pick<Digest, 'key' | 'max'> {
  readonly recipient: Recipient
  readonly eventData: JsonObject
}

/** A delivery to store. */
export interface NewDelivery
  extends Pick<
    Delivery,
    'deliveryId' | 'channel' | 'reason' | 'trace' | 'address' | 'content' | 'deferred' | 'concurrencyKey' | 'waitsFor'
  > {
  readonly status: 'queued' | 'held' | 'skipped' | 'failed'
  /** With `queued`: due in this many milliseconds, by the store's clock. Default: 0. */
  readonly delayMs?: number
  /** Counted when the delivery is first queued. When one is spent, the delivery becomes `skipped`, `throttled`. */
  readonly limits?: readonly SendLimit[]
  /** With `queued`: the delivery has no content yet and is rendered when it is due. */
  readonly digest?: NewDigest
}

/** A dispatch to store. The store sets its `createdAt`. */
export interface NewDispatch extends Omit<DispatchHead, 'createdAt'> {
  readonly deliveries: readonly NewDelivery[]
  /** Set only when a delivery failed in host code. Only {@link DispatchStore.findReplannable} returns it. */
  readonly source?: PlanSource
}

/** Input of {@link DispatchStore.accept}, stored atomically. */
export interface Acceptance {
  readonly dispatch: NewDispatch
  /** Time to live in milliseconds from the first due time. A held delivery expires with the queued one. */
  readonly expiresInMs: number
  /** Builds the caller's answer from the stored dispatch. Pure; never throws. */
  readonly answer: (dispatch: Dispatch) => DispatchAnswer
  /** Absent when the caller sent no `Idempotency-Key`: nothing is deduplicated. */
  readonly idempotency?: {
    /** Unique within the tenant, 1-512 characters. */
    readonly key: string
    /** SHA-256 of the canonical body, hex. */
    readonly fingerprint: string
    readonly ttlMs: number
  }
  /** Limits of accepted dispatches: all are counted, or none. They share counters with limits of policies of the same key. */
  readonly quotas?: readonly SendLimit[] | undefined
}

/** Outcome of {@link DispatchStore.accept}. */
export type AcceptOutcome =
  | { readonly outcome: 'accepted'; readonly answer: DispatchAnswer }
  /** The key exists with the same fingerprint; nothing was stored. */
  | { readonly outcome: 'replayed'; readonly answer: DispatchAnswer }
  /** The key exists with another fingerprint; nothing was stored. */
  | { readonly outcome: 'key_reused' }
  /** One of the `quotas` is spent; nothing was stored. */
  | { readonly outcome: 'quota_spent' }
  /** A dispatch or a delivery of any tenant has one of these ids already, or two deliveries share one; nothing was stored. */
  | { readonly outcome: 'id_taken' }

/** The stored answer of an idempotency key. */
export interface StoredAnswer {
  readonly fingerprint: string
  readonly answer: DispatchAnswer
}

/** Deliveries that {@link DispatchStore.claim} may lease. */
export interface ClaimRequest {
  readonly leaseMs: number
  /** Maximum per channel. 0: counts for `nextDueInMs` only. Channels without an entry are not leased: they cannot be sent. */
  readonly limits: Readonly<Record<string, number>>
  /** Receivers whose deliveries are not leased: at their concurrency limit, or paused for one tenant. They still expire. */
  readonly busy: readonly BusyReceiver[]
  /**
   * Cursors, from {@link Claims.last}: the tenant after which each channel's turns begin, of urgent deliveries under the channel's name and
   * ` urgent`. Need not exist. Default: the first tenant.
   */
  readonly after?: Readonly<Record<string, string>>
  /**
   * Tenants at their share of a channel: their deliveries there are not leased. While the visited tenants have nothing to lease, the
   * claim goes on to the next ones, to at least 256. It may lease fewer than the limit; with `nextDueInMs` 0 the next claim may find
   * more. Default: none.
   */
  readonly full?: readonly { readonly channel: string; readonly tenant: string }[]
}

/** A receiver whose deliveries a claim leaves out. */
export interface BusyReceiver {
  readonly channel: string
  readonly concurrencyKey: string
  /** Default: all tenants. */
  readonly tenant?: string
}

/** A delivery leased to one worker. */
export interface ClaimedDelivery {
  readonly deliveryId: string
  readonly channel: string
  readonly address: string
  /** Absent: the worker renders `digest` first. */
  readonly content?: Content
  readonly digest?: Digest
  readonly concurrencyKey?: string
  readonly deferred?: true
  /** The delivery was `sending` and its lease ended: its worker died or hangs. For the log. Default: unknown. */
  readonly reclaimed?: true
  /** Includes this attempt. */
  readonly attempts: number
  /** Attempts before the last {@link DispatchStore.retry}; the retry schedule ignores them. Default: 0. */
  readonly attemptsBefore?: number
  readonly history: readonly Attempt[]
  /** Milliseconds since acceptance. */
  readonly waitedMs: number
  readonly expiresInMs: number
  /** Fencing token of the lease, new for every claim; {@link DispatchStore.settle} requires it. */
  readonly fence: string
  readonly dispatch: DispatchHead
}

/** Result of a claim. */
export interface Claims {
  readonly deliveries: readonly ClaimedDelivery[]
  readonly expired: readonly (DeliveryChange & { readonly dispatch: DispatchHead })[]
  /** Deliveries that became `failed`, `record_unreadable`, and those that changed with them. Default: none. */
  readonly unreadable?: Claims['expired']
  /** Milliseconds until the next claimable delivery is due or its lease ends, if known. 0: more are due now. */
  readonly nextDueInMs?: number
  /** The next {@link ClaimRequest.after} of each channel and priority in which tenants took turns. The others keep theirs. */
  readonly last?: Readonly<Record<string, string>>
}

/** Proof of a lease: the delivery and its fencing token. */
export interface LeaseToken {
  readonly deliveryId: string
  readonly fence: string
}

/** End of a lease. Without `attempt` nothing was tried: the count goes back by 1 and no attempt is recorded. */
export type Settlement = LeaseToken & { readonly attempt?: AttemptEnd } & (
    | { readonly to: 'sent' }
    | {
        readonly to: 'queued'
        /** Due again in this many milliseconds, by the store's clock. */
        readonly delayMs: number
        /** Rendered content of the digest; further events do not join it. */
        readonly content?: Content
        /** Why it waits. The delivery shows it until it is claimed again. */
        readonly waitsFor?: StoredWait | undefined
      }
    | { readonly to: 'failed' | 'skipped'; readonly reason: DeliveryReason }
  )

/** Outcome of a settlement. `live: false`: another worker holds the lease, and nothing changed. */
export type Settled =
  | { readonly live: false }
  | {
      readonly live: true
      /** Other deliveries of the dispatch that this settlement skipped or promoted. */
      readonly others: readonly DeliveryChange[]
      /** The delivery became `cancelled` instead of `queued`, because a cancel arrived meanwhile. */
      readonly cancelled?: true
    }

/** Changes of {@link DispatchStore.cancel} or {@link DispatchStore.retry}, and the dispatch after them. */
export interface DispatchChange {
  readonly changed: readonly DeliveryChange[]
  readonly dispatch: Dispatch
}

/** Options of {@link DispatchStore.retry}. */
export interface RetryRequest {
  /** Default: all channels. */
  readonly channel?: string
  readonly expiresInMs: number
}

/** Outcome of {@link DispatchStore.replan}. `conflict`: the deliveries changed meanwhile; nothing was stored. */
export type ReplanOutcome = ({ readonly outcome: 'replanned' } & DispatchChange) | { readonly outcome: 'conflict' }

/**
 * Stores dispatches and their deliveries: the outbox. The job is stored with the delivery; there is no second queue.
 *
 * Every method throws when the store is unavailable (503 `store_unavailable`) and must then have made all of its changes or none.
 * The store's clock decides due times, lease ends and expiry, and dates records: `createdAt` of a dispatch, begin and end of
 * attempts. Results are copies: a caller that changes one must not change stored data.
 */
export interface DispatchStore extends DispatchErasureStore {
  /** Finds the stored answer of a key; a repeated request gets it even when data changed. {@link accept} checks the key again. */
  recall(tenant: string, key: string): Promise<StoredAnswer | undefined>
  /**
   * Stores a dispatch, its deliveries and its idempotency key in one transaction. Of concurrent calls with the same tenant and key,
   * exactly one is `accepted`; of calls with the same tenant and quota, at most its `max`. The key is checked before the quotas.
   * Once the promise resolves, nothing may be lost.
   *
   * The same transaction handles each `queued` delivery:
   * - With a digest, it joins the delivery whose digest is open: same tenant, event type, recipient, channel, address and key;
   * `queued`, not rendered, not due, not full; the one opened first. That delivery then belongs to both dispatches and expires at
   * the later of both expiries. Its limits are not counted again.
   * - Otherwise its limits are counted. When one is spent, it is `skipped`, `throttled`; with the route `first` the next `held`
   * delivery is promoted, with the same due time.
   */
  accept(acceptance: Acceptance): Promise<AcceptOutcome>
  /**
   * Leases due deliveries: `queued` ones that are due and `sending` ones whose lease has ended. Exactly one caller gets each; it
   * becomes `sending` and its attempt is counted before the promise resolves. Deliveries past their expiry become
   * `expired` instead, together with the `held` deliveries of their dispatch; a store may find those of other channels and of busy
   * receivers in a later claim.
   *
   * Urgent deliveries of a channel come before all normal ones. Within a priority, the oldest due deliveries of each tenant and channel
   * come first. When more are due than the limit of the channel has left, the tenants take turns within that priority: the claim visits the
   * next tenants with `queued` or `sending` deliveries, at most 32, in a fixed order that starts after `after` and wraps around. It shares
   * what the limit has left equally among those with due deliveries; those visited first get the remainder. Others get what a tenant does
   * not use. With `last` as the next `after`, every tenant has its turn within as many claims as there are tenants, or sooner.
   */
  claim(request: ClaimRequest): Promise<Claims>
  /** Extends a lease to `leaseMs` from now. Resolves to `false` and changes nothing when it is not live, as in {@link settle}. */
  renew(lease: LeaseToken, leaseMs: number): Promise<boolean>
  /**
   * Ends a lease. Changes nothing unless the delivery is `sending` under exactly this fencing token. The same transaction updates
   * the dispatch's `held` deliveries: `sent` makes them `skipped`, `fallback_unneeded`; `failed` and `skipped` promote the first
   * one whose limits are not spent to `queued`, due now.
   */
  settle(settlement: Settlement): Promise<Settled>
  /**
   * Makes the `queued` and `held` deliveries of a dispatch `cancelled`. A `sending` delivery stays `sending`, but becomes
   * `cancelled` instead of `queued` until a retry. From a digest with other events, only this dispatch's event is removed; the
   * dispatch keeps a `cancelled` record under the delivery's id. A rendered digest is `cancelled` once all its dispatches are.
   * `undefined`: the tenant has no such dispatch.
   */
  cancel(tenant: string, dispatchId: string): Promise<DispatchChange | undefined>
  /**
   * Makes `failed` and `expired` deliveries that have an address and content (or a digest) `queued` again: due now, with a new
   * expiry and a restarted retry schedule. With the route `first`, only when no delivery of the dispatch is sent or may still be
   * sent; then the first is `queued` and the others `held`. Limits that were never counted are counted now. `undefined`: the tenant
   * has no such dispatch.
   */
  retry(tenant: string, dispatchId: string, options: RetryRequest): Promise<DispatchChange | undefined>
  /**
   * Continues a dispatch with the route `first` after the bounce of a delivery; `undefined`: the tenant has none. If it is `sent` and all
   * later ones are `skipped`, those with `fallback_unneeded` that have not expired become `held`, and the first that fits its limits is
   * `queued`. If it is `sending`, {@link settle} with `sent` then promotes as with `failed`. Otherwise, as when repeated, nothing changes.
   */
  fallBack(tenant: string, deliveryId: string): Promise<DispatchChange | undefined>
  /** Finds the tenant's dispatch if it can be planned again, because its `source` is stored. */
  findReplannable(tenant: string, dispatchId: string): Promise<Replannable | undefined>
  /**
   * Replaces deliveries that failed in host code and does what {@link retry} does, in one transaction: a compare-and-set. Of
   * concurrent calls with one version, exactly one replaces deliveries; the others get `conflict`. A given delivery replaces the
   * one of its id and channel, which must have failed with `template_error` or `condition_error` and have neither content nor a
   * digest; otherwise the outcome is `conflict`. Other deliveries are unchanged.
   *
   * A `queued` delivery joins a digest, or is counted and throttled, as in {@link accept}; it is due and expires as if accepted
   * now. With the route `first`, replaced and retried deliveries wait in the order of the dispatch and the first that fits is
   * `queued`; nothing changes when a delivery of the dispatch is sent or may still be sent. The `source` is removed with the last
   * delivery that failed in host code.
   */
  replan(
    tenant: string,
    dispatchId: string,
    version: number,
    deliveries: readonly NewDelivery[],
    options: RetryRequest,
  ): Promise<ReplanOutcome | undefined>
  findDispatch(tenant: string, dispatchId: string): Promise<Dispatch | undefined>
  /** Finds the tenant's dispatch that has this delivery; of a digest, one of those that share it. One whose event left it need not be found. */
  findByDelivery(tenant: string, deliveryId: string): Promise<Dispatch | undefined>
  listDispatches(query: DispatchQuery): Promise<Page<Dispatch>>
  /** Counts deliveries that {@link claim} could lease now: `queued` ones that are due, and `sending` ones whose lease has ended. */
  countDue(query: DueQuery): Promise<DueCount>
  /**
   * Removes dispatches without `queued`, `sending` or `held` deliveries, and their deliveries. A delivery that other dispatches
   * share stays with them. Idempotency keys and counters remain until they expire. Resolves to the number of removed dispatches;
   * fewer than `limit` means that none is left to remove.
   */
  removeDispatches(removal: DispatchRemoval): Promise<number>
  /** Removes at most `limit` expired idempotency keys and counters each; a lower result: none is left. Default: automatic. */
  forgetExpired?(limit: number): Promise<number>
  /** Resolves once usable; otherwise throws `config_invalid` with the remedy, such as a migration. Default: always ready. */
  ready?(): Promise<void>
}
