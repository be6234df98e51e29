import type { Feedback } from '../model/feedback.ts'
import type { Suppression, SuppressionReason } from '../model/suppression.ts'
import type { Page } from './dispatch-query.ts'

/** A suppression to store. */
export interface NewSuppression extends Omit<Suppression, 'createdAt' | 'expiresAt'> {
  /** Milliseconds until it expires. Default: never. */
  readonly expiresInMs?: number
}

/** Owner of feedback: a delivery, or the message of a provider, or neither. Equal only within one tenant and channel. */
export interface FeedbackOwner {
  readonly tenant: string
  readonly channel: string
  /** `delivery:<delivery id>`, `message:<provider message id>`, `event:<id of the event>` or `once:<hash>`; at most 300 characters. */
  readonly owner: string
}

/** A report to store. */
export interface NewFeedback extends FeedbackOwner, Feedback {
  /** Hash of its tenant, channel, owner, kind, permanence, code and address: equal for repetitions, 64 characters. */
  readonly feedbackId: string
  /** The address of the report, which may be another one than the delivery's: a copy. Default: unknown. */
  readonly addressKey?: string
  /** Stored with the report, unless the report is stored already. */
  readonly suppression?: NewSuppression
}

/** A stored report. */
export type StoredFeedback = Omit<NewFeedback, 'suppression'>

/** Input of {@link FeedbackStore.recordFeedback}, stored atomically. */
export interface FeedbackBatch {
  /** At most 100, or 1,000 with `once`; with different ids. */
  readonly feedback: readonly NewFeedback[]
  /** A report that stands for the whole batch: if it is stored already, nothing is stored. */
  readonly once?: StoredFeedback
}

/** Query for suppressions that match every given member, newest first. */
export interface SuppressionQuery {
  readonly tenant: string
  readonly channel?: string | undefined
  readonly reason?: SuppressionReason | undefined
  readonly limit: number
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
}

/** Filter of {@link FeedbackStore.removeFeedback}. */
export interface FeedbackRemoval {
  /** Default: all tenants. */
  readonly tenant?: string | undefined
  /** Stored more than this many milliseconds ago, by the store's clock. */
  readonly storedForMs: number
  readonly limit: number
}

/**
 * Stores what providers report, and the addresses to which nothing is sent. Every method throws when the store is unavailable and must
 * then have made all of its changes or none.
 */
export interface FeedbackStore {
  /**
   * Stores reports and their suppressions in one transaction; resolves to the ids of the reports that were new. Of a report that is stored
   * already, the earlier time remains and its suppression is ignored: a suppression that was removed does not return with a repetition.
   * The result is the same in any order and with any repetitions.
   */
  recordFeedback(batch: FeedbackBatch): Promise<readonly string[]>
  /** Finds the reports of any of the owners, at most 100 owners, in any order. */
  findFeedback(owners: readonly FeedbackOwner[]): Promise<readonly StoredFeedback[]>
  /**
   * Removes old reports, and at most as many expired suppressions of any tenant. Resolves to the number of reports: fewer than `limit` means
   * that none is left to remove.
   */
  removeFeedback(removal: FeedbackRemoval): Promise<number>
  /**
   * Stores suppressions, at most 100; resolves to the ids of those that were new. A stored one remains and expires at the later of both
   * times. An expired one counts as not stored. Once the promise resolves, {@link findSuppressions} finds them in every process.
   */
  addSuppressions(suppressions: readonly NewSuppression[]): Promise<readonly string[]>
  /** Finds the suppressions of any of the address keys, at most 1,000, that have not expired, in any order. */
  findSuppressions(addressKeys: readonly string[]): Promise<readonly Suppression[]>
  /** Lists suppressions that have not expired. */
  listSuppressions(query: SuppressionQuery): Promise<Page<Suppression>>
  /** Removes suppressions by their ids, at most 100. Resolves to the number that was removed. */
  removeSuppressions(suppressionIds: readonly string[]): Promise<number>
}
