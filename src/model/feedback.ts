import { isStorable } from './json.ts'

/** Kind of a report about a message. `resubscribed`: undoes `unsubscribed`. `unknown`: an event that the source does not know. */
export type FeedbackKind =
  | 'delivered'
  | 'delayed'
  | 'bounced'
  | 'complained'
  | 'opened'
  | 'clicked'
  | 'unsubscribed'
  | 'resubscribed'
  | 'unknown'

export const FEEDBACK_KINDS: readonly FeedbackKind[] = [
  'delivered',
  'delayed',
  'bounced',
  'complained',
  'opened',
  'clicked',
  'unsubscribed',
  'resubscribed',
  'unknown',
]

/** Longest texts of an event. An address has 64 + 1 + 255 characters at most (RFC 5321). */
export const FEEDBACK_LENGTHS = { id: 255, eventId: 128, address: 320, code: 64 } as const

/** The value if it is a text that stores can keep, of 1 to `max` characters. */
export function feedbackText(value: unknown, max: number): string | undefined {
  return typeof value === 'string' && value !== '' && value.length <= max && isStorable(value) ? value : undefined
}

/** Report of a provider about a delivery. */
export interface Feedback {
  readonly kind: FeedbackKind
  /** Time of the first such report, epoch milliseconds by the provider's clock. */
  readonly at: number
  /** A lower_snake word or an enhanced status code (RFC 3463, `5.1.1`). */
  readonly code?: string
}

/** Public view of feedback. Instants are RFC 3339. */
export interface FeedbackView {
  readonly kind: FeedbackKind
  /** Time of the first such report, by the provider's clock. */
  readonly at: string
  /** The provider's reason: a lower_snake word or an enhanced status code (RFC 3463, `5.1.1`). */
  readonly code?: string
}

/** Name of the metadata with which a channel passes the delivery id to a provider. */
export const DELIVERY_ID = 'sallyport_delivery_id'
