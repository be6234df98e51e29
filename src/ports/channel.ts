import type { Attempt, Content } from '../model/dispatch.ts'
import type { Recipient } from '../model/recipient.ts'

/** A rendered message for one address, equal for every attempt. */
export interface OutboundMessage {
  /** The result of {@link Channel.address} when the event was accepted. */
  readonly to: string
  readonly content: Content
  readonly eventType: string
  /** The dispatch; of a digest, that of its oldest event, as is `createdAt`. */
  readonly dispatchId: string
  readonly tenant: string
  readonly locale?: string
  /** When the event was accepted, epoch milliseconds. */
  readonly createdAt: number
}

/** Context of one attempt. */
export interface SendContext {
  /** Equal for every attempt: pass it to the provider as the idempotency key, so that it recognises a repeat. */
  readonly deliveryId: string
  /** 1 for the first. */
  readonly attempt: number
  /** Earlier attempts, oldest first. An attempt without an outcome ended with its worker and may have been sent. */
  readonly history: readonly Attempt[]
  /** Aborted when the send times out or the lease ends. Send nothing after that. */
  readonly signal: AbortSignal
}

/**
 * Outcome of one attempt. `code` is a short lower_snake word for logs and records, never text of the provider. `provider` names
 * the provider when a channel has several. `cause` is an unexpected error that the channel caught; it goes to the log and
 * `onError` only.
 */
export type SendOutcome = { readonly provider?: string } /** The provider took it. */ & (
  | { readonly outcome: 'sent'; readonly providerMessageId?: string }
  /**
   * Certainly not sent: try again. `retryAfterMs` is the wait that the provider asked for: the next attempt comes no sooner, and
   * the delivery fails when that is after its expiry. Negative numbers and `NaN` are ignored.
   */
  | { readonly outcome: 'retry'; readonly code: string; readonly retryAfterMs?: number; readonly cause?: unknown }
  /** May have been sent: try again with the same delivery id, which lets the provider recognise it. `retryAfterMs` as for `retry`. */
  | { readonly outcome: 'unknown'; readonly code: string; readonly retryAfterMs?: number; readonly cause?: unknown }
  /** Permanently refused: no further attempt. */
  | { readonly outcome: 'rejected'; readonly code: string }
)

/** Sends messages to recipients. A custom channel needs two methods. */
export interface Channel {
  /**
   * The recipient's address on this channel. `undefined`: there is none, and the delivery is skipped as `no_address`. Must be pure
   * and quick: planning calls it.
   */
  address(recipient: Recipient): string | undefined
  /** Sends one message. A throw counts as `retry` with the reason `channel_error`. */
  send(message: OutboundMessage, context: SendContext): Promise<SendOutcome>
  /**
   * Backoff: milliseconds to wait before each further attempt, ascending, with a jitter of +-20 %.
   * Default: 1, 5, 15, 45, 120, 240, 480 and 900 seconds. `[]`: one attempt.
   */
  readonly retrySchedule?: readonly number[]
  /**
   * The receiver of an address, such as the origin of a URL. Only a few deliveries to one receiver are in flight at a time, so that
   * a dead receiver does not delay the others. Must be pure and quick. Default: the whole channel is one receiver.
   */
  concurrencyKey?(address: string): string
  /**
   * Checks the template fields that an event defines for this channel, at start-up. Returns what is wrong, or `undefined`.
   * Default: all fields are accepted.
   */
  checkFields?(fields: readonly string[]): string | undefined
}
