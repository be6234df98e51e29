import type { Attempt, ProviderEnd } from '../model/attempt.ts'
import type { Content } from '../model/dispatch.ts'
import type { JsonValue } from '../model/json.ts'
import type { Recipient } from '../model/recipient.ts'
import type { RefusedAddress } from '../model/suppression.ts'

/** A rendered message for one address, equal for every attempt. */
export interface OutboundMessage {
  /** The result of {@link Channel.address} when the event was accepted. */
  readonly to: string
  readonly content: Content
  readonly eventType: string
  /** Id of the dispatch. A digest has the id and the `createdAt` of its oldest event. */
  readonly dispatchId: string
  readonly tenant: string
  /** Id of the recipient, as in the dispatch. */
  readonly recipient: string
  readonly locale?: string
  /** Time of acceptance, epoch milliseconds. */
  readonly createdAt: number
  /**
   * Addresses of {@link Channel.copies} that are suppressed: the message must not go to them. Checked before each attempt. Absent: none.
   */
  readonly omittedCopies?: readonly string[]
  /** The recipient's links. Absent for events that are `critical`, and in a host that makes none. */
  readonly links?: MessageLinks
}

/**
 * Links of one recipient, by name. They are secrets: anyone who has a link can use it. `unsubscribe`, of the plugin `consent`, shows a page for
 * `GET`; `POST` unsubscribes at once (RFC 8058).
 */
export type MessageLinks = Readonly<Record<string, string>>

/** Context of one attempt. */
export interface SendContext {
  /** Equal for every attempt. Pass it to the provider as the idempotency key. */
  readonly deliveryId: string
  /** 1-based. */
  readonly attempt: number
  /** Earlier attempts, oldest first. An attempt without an outcome may have been sent: its worker died. */
  readonly history: readonly Attempt[]
  /** Aborted when the send times out or the lease ends. Send nothing after that. */
  readonly signal: AbortSignal
}

/**
 * Outcome of one attempt. `code` is a lower_snake word for logs and records, never text of the provider. `provider` and `providers` are
 * set when a channel has several: the one used, and all of this attempt in the order in which they were asked, at most 16. Names are 1-64
 * visible ASCII characters. `cause` is an unexpected error, for the log and `onError` only.
 */
export type SendOutcome = {
  readonly provider?: string
  readonly providers?: readonly ProviderEnd[]
  /** Enhanced status code of a mail server (RFC 3463), such as `5.1.1`. */
  readonly enhancedStatus?: string
} /** The provider accepted the message. */ & (
  | { readonly outcome: 'sent'; readonly providerMessageId?: string }
  /** Not sent: try again, after `retryAfterMs` at the earliest (below 0 and `NaN`: ignored). Fails if it expires before that. */
  | { readonly outcome: 'retry'; readonly code: string; readonly retryAfterMs?: number; readonly cause?: unknown }
  /** May have been sent: try again with the same delivery id. `retryAfterMs` as for `retry`. */
  | { readonly outcome: 'unknown'; readonly code: string; readonly retryAfterMs?: number; readonly cause?: unknown }
  /**
   * Permanently refused: no further attempt. `by: 'channel'`: by the channel itself, such as for a malformed address, and no provider was
   * asked. It changes only the reason: `channel_rejected` instead of `provider_rejected`. `suppress`: the refusal is about the address,
   * which does not exist or refuses for good (`bounced`), or whose owner has opted out (`unsubscribed`); it is suppressed as after a report.
   */
  | {
      readonly outcome: 'rejected'
      readonly code: string
      readonly by?: 'channel'
      readonly suppress?: RefusedAddress
    }
)

/** Sends messages to recipients. */
export interface Channel {
  /** Returns the recipient's address; `undefined` skips the delivery as `no_address`. Must be pure and quick. */
  address(recipient: Recipient): string | undefined
  /**
   * Sends one message. A throw or a rejection counts as `retry` with the code `channel_error`. A value that is no {@link SendOutcome} may
   * come after a send: it fails the delivery with the code `outcome_invalid`, and nothing is sent again.
   */
  send(message: OutboundMessage, context: SendContext): Promise<SendOutcome>
  /** Ascending milliseconds before each retry, jitter +-20 %. `[]`: no retry. Default: 1, 5, 15, 45, 120, 240, 480, 900 seconds. */
  readonly retrySchedule?: readonly number[]
  /** Returns the receiver, such as a URL's origin; limits its deliveries in flight. Must be pure. Default: one per channel. */
  concurrencyKey?(address: string): string
  /**
   * Returns the addresses that a message with this content goes to besides the recipient's, such as those of `cc` and `bcc`. A session
   * token needs each of them in its recipients. Must be pure and quick, and equal for equal content. Default: none.
   */
  copies?(content: Content): readonly string[]
  /**
   * Checks an event's fields at start-up. Returns the fault or a list of all faults; `undefined` or an empty list: none. Default: accepts
   * all.
   * @param fields The names of all fields.
   * @param values The fields that are values instead of templates or functions.
   */
  checkFields?(
    fields: readonly string[],
    values?: Readonly<Record<string, JsonValue>>,
  ): string | readonly string[] | undefined
}
