import type { Attempt } from '../../../model/attempt.ts'
import type { ConditionTrace, DeliveryReason, DeliveryStatus, Digest } from '../../../model/dispatch.ts'
import type { JsonObject } from '../../../model/json.ts'
import type { StoredWait } from '../../../model/waiting.ts'
import type { SendLimit } from '../../../ports/delivery-policy.ts'

/** The state of a delivery in its dispatch or digest, without its job and its content. Absent members have their default. */
export interface StoredDelivery {
  readonly deliveryId: string
  readonly channel: string
  /** `queued` while it has a job, also under a lease. */
  readonly status: Exclude<DeliveryStatus, 'sending'>
  readonly reason?: DeliveryReason | StoredWait
  /** Number of attempts, without those in the job. */
  readonly attempts?: number
  readonly attemptsBefore?: number
  readonly bouncedAttempt?: number
  /** Attempts, without those in the job. */
  readonly log?: readonly Attempt[]
  readonly acceptedAt: number
  readonly expiresAt: number
  readonly concurrencyKey?: string
  /** Dispatches that requested cancellation while it could not be cancelled. */
  readonly cancelledBy?: readonly string[]
  readonly address?: string
  /** Its record of the content is not empty. */
  readonly hasContent?: true
  readonly limits?: readonly SendLimit[]
  readonly deferred?: true
  readonly trace?: readonly ConditionTrace[]
  readonly lastCode?: string
  readonly providerMessageId?: string
  readonly digest?: StoredDigest
  /** Never stored: its state cannot be read, and this is what other records tell. */
  readonly isDamaged?: true
}

export interface StoredDigest extends Pick<Digest, 'key' | 'max' | 'recipient'> {
  readonly opened: number
  readonly size: number
  /** The own event of a delivery that its dispatch no longer shares. */
  readonly eventData?: JsonObject
}

/** Members of a state: whether they hold data of a person, which an erasure removes. */
export const STATE_MEMBERS: Readonly<Record<keyof StoredDelivery, 'personal' | 'other'>> = {
  ...{
    deliveryId: 'other',
    channel: 'other',
    status: 'other',
    reason: 'other',
    hasContent: 'other',
    deferred: 'other',
  },
  ...{ attempts: 'other', attemptsBefore: 'other', bouncedAttempt: 'other', log: 'other', cancelledBy: 'other' },
  ...{ acceptedAt: 'other', expiresAt: 'other', lastCode: 'other', providerMessageId: 'other', isDamaged: 'other' },
  ...{ address: 'personal', concurrencyKey: 'personal', limits: 'personal', trace: 'personal', digest: 'personal' },
}

/** A delivery of a dispatch: its state, or the name of a digest that holds it. */
export type StoredEntry = StoredDelivery | { readonly deliveryId: string; readonly shared: true }

export function isShared(entry: StoredEntry): entry is Extract<StoredEntry, { readonly shared: true }> {
  return Object.hasOwn(entry, 'shared')
}
