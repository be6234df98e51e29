import type { Attempt, Content } from '../model/dispatch.ts'
import type { Recipient } from '../model/recipient.ts'

/** A rendered message for one address. The same for every attempt. */
export interface OutboundMessage {
  /** What {@link Channel.address} gave when the event was accepted. */
  readonly to: string
  readonly content: Content
  readonly eventType: string
  /** Of a digest, that of its oldest event, and so is `createdAt`. */
  readonly dispatchId: string
  readonly tenant: string
  readonly locale?: string
  /** When the event was accepted, epoch milliseconds. */
  readonly createdAt: number
}

/** What goes along with one attempt. */
export interface SendContext {
  /** The same for every attempt: pass it on as the provider's idempotency key, so that a repeat can be recognised. */
  readonly deliveryId: string
  /** 1 for the first. */
  readonly attempt: number
  /** The attempts before this one, oldest first. One with no outcome ended with its worker: it may have been sent. */
  readonly history: readonly Attempt[]
  /** Aborted when the time for sending is over, or the lease is: what has not been sent by then must not be. */
  readonly signal: AbortSignal
}

/**
 * What came of one attempt. `code` is a short lower_snake word for logs and records; never text of the provider's. `provider`
 * names which one it was, where a channel has several. `cause` is an error that the channel caught and does not know, such as a mistake
 * in its code: for the log and `onError` alone.
 */
export type SendOutcome = { readonly provider?: string } /** The provider took it. */ & (
  | { readonly outcome: 'sent'; readonly providerMessageId?: string }
  /**
   * Certainly not sent: try again. `retryAfterMs` is what the provider asked for: the next attempt comes no sooner, and where
   * that would be after the delivery's expiry there is none. Negative numbers and `NaN` ask for nothing.
   */
  | { readonly outcome: 'retry'; readonly code: string; readonly retryAfterMs?: number; readonly cause?: unknown }
  /** May have been sent: try again with the same delivery id, which lets the provider recognise it. `retryAfterMs` as for `retry`. */
  | { readonly outcome: 'unknown'; readonly code: string; readonly retryAfterMs?: number; readonly cause?: unknown }
  /** Never will be sent: no further attempt. */
  | { readonly outcome: 'rejected'; readonly code: string }
)

/** A way to reach people. Two methods are enough for one of your own. */
export interface Channel {
  /**
   * Where this recipient is reached here; `undefined` when nowhere, and the delivery is skipped as `no_address`.
   * Must be pure and quick: it is called while an event is planned.
   */
  address(recipient: Recipient): string | undefined
  /** Sends one message. A throw is taken as `retry` with the reason `channel_error`. */
  send(message: OutboundMessage, context: SendContext): Promise<SendOutcome>
  /**
   * Milliseconds to wait before each further attempt, ascending; each is varied by +-20 %.
   * Default: 1, 5, 15, 45, 120, 240, 480 and 900 seconds. `[]`: one attempt.
   */
  readonly retrySchedule?: readonly number[]
  /**
   * What deliveries to one receiver have in common, such as a URL's origin: of these only a few are sent at a time, so that a
   * receiver which has died does not hold up the others. Must be pure and quick. Default: the whole channel is one receiver.
   */
  concurrencyKey?(address: string): string
  /**
   * Says what is wrong with the template fields that an event gives for this channel, at start-up; `undefined`: nothing.
   * Default: any fields do.
   */
  checkFields?(fields: readonly string[]): string | undefined
}
