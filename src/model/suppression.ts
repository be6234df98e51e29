/**
 * Reason of a suppression. `bounced`: the address does not exist or refuses for good. `soft_bounced`: a message did not arrive; expires.
 * `manual`: added by the host.
 */
export type SuppressionReason = 'bounced' | 'soft_bounced' | 'complained' | 'unsubscribed' | 'manual'

export const SUPPRESSION_REASONS: readonly SuppressionReason[] = [
  'bounced',
  'soft_bounced',
  'complained',
  'unsubscribed',
  'manual',
]

/** Why a provider refuses an address when a message is sent. */
export type RefusedAddress = Extract<SuppressionReason, 'bounced' | 'unsubscribed'>

/** The part of a suppression that decides what it covers. */
export interface SuppressionScope {
  readonly reason: SuppressionReason
  /** Covers only events of this category. Default: all events. */
  readonly category?: string
}

/** An address to which a channel does not send. */
export interface Suppression extends SuppressionScope {
  /** Hash of its tenant, channel, address key, reason and category: equal for repetitions. */
  readonly suppressionId: string
  readonly tenant: string
  readonly channel: string
  /** Keyed hash of the address: `<key id>.<HMAC>`. */
  readonly addressKey: string
  /** Name of the feedback source, `link`, `send` or `host`. */
  readonly source: string
  /** Epoch milliseconds by the store's clock. */
  readonly createdAt: number
  /** Default: never. */
  readonly expiresAt?: number
}

/** Public view of a suppression. Instants are RFC 3339. The address itself is not stored. */
export interface SuppressionView {
  readonly channel: string
  /** Keyed hash of the address: `<key id>.<HMAC>`. */
  readonly addressKey: string
  readonly reason: SuppressionReason
  /** Covers only events of this category. Absent: all events. */
  readonly category?: string
  /** Name of the feedback source; `link`: the recipient unsubscribed; `send`: the provider refused a message; `host`: added by a call. */
  readonly source: string
  readonly createdAt: string
  /** Absent: never. */
  readonly expiresAt?: string
}

/** The part of an event that a suppression depends on. */
export interface SuppressedEvent {
  readonly category: string
  readonly critical: boolean
}

/**
 * True if a suppression covers an event. Hard bounces, complaints and manual suppressions of all categories cover critical events too;
 * the others never do.
 */
export function covers({ reason, category }: SuppressionScope, event: SuppressedEvent): boolean {
  if (category !== undefined) return category === event.category && !event.critical
  return !event.critical || reason === 'bounced' || reason === 'complained' || reason === 'manual'
}
