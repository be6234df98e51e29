import type { FeedbackKind } from '../model/feedback.ts'

/** One event of a provider. It belongs to the delivery `deliveryId`, else to the one with `providerMessageId`. */
export interface FeedbackEvent {
  readonly kind: FeedbackKind
  /** Equal when the provider repeats the event. Derived from the event where the provider has no id. At most 128 characters. */
  readonly eventId: string
  /** Time of the event by the provider's clock, whole epoch milliseconds. Default: the time of arrival. */
  readonly at?: number
  /** Our delivery id, from the metadata that the channel passed to the provider. At most 255 characters. */
  readonly deliveryId?: string
  /** As in `providerMessageId` of the attempt. At most 255 characters. */
  readonly providerMessageId?: string
  /** Address that the event is about, as the provider writes it. At most 320 characters. Never logged. */
  readonly address?: string
  /** Only with `unsubscribed`: from all messages of the channel, not those of the delivery's category alone. Default: false. */
  readonly isOfChannel?: boolean
  /** Only with `bounced`: the address does not exist or refuses for good. Default: false. */
  readonly isPermanent?: boolean
  /**
   * A lower_snake word or an enhanced status code (RFC 3463, `5.1.1`); for `unknown`, the provider's name of the event as such a word, or
   * `unknown_shape`. At most 64 characters.
   */
  readonly code?: string
}

/** A request of a provider whose body is not read yet. */
export interface FeedbackHead {
  /** Value of a header; the name in lower case. */
  header(name: string): string | undefined
  /** Path and query as the host received them. */
  readonly url: string
  /** Epoch milliseconds. */
  readonly now: number
}

/** A request of a provider. */
export interface FeedbackRequest extends FeedbackHead {
  /** The exact bytes of the body: signatures cover them. */
  readonly body: Uint8Array
}

/** Content of a request of a provider. */
export type FeedbackReceipt =
  | {
      readonly outcome: 'events'
      readonly events: readonly FeedbackEvent[]
      /** A proof that counts once: later requests with it are answered like the first one and ignored. */
      readonly onceToken?: string
      /** Account of the provider: all sources with it, of any tenant, share what is spent of `onceToken`. Default: this source alone. */
      readonly onceAccount?: string
      /** Time after which the source itself refuses `onceToken`, epoch milliseconds. Default: never. */
      readonly onceUntil?: number
    }
  /** No proof, or a wrong one: 401 without detail. */
  | { readonly outcome: 'refused' }

/** Reads what a provider reports. */
export interface FeedbackSource {
  /** Events match only deliveries of this tenant. */
  readonly tenant: string
  /** Name of the channel whose deliveries the events are about. */
  readonly channel: string
  /** Longest body in bytes: 1 to 1,048,576, the default. A longer one is answered 413, and its rest is not read. */
  readonly maxBytes?: number
  /**
   * False: the proof cannot be right, whatever the body is, and the request is answered 401 before its body is read. Strangers can send
   * any number of bodies slowly, so a source refuses by the head what it can. Default: every body is read.
   */
  head?(request: FeedbackHead): boolean
  /**
   * Checks the proof of a request and reads its events. A body of an unknown shape whose proof is right has one event `unknown`. Throws only
   * when the proof cannot be checked now (503): providers repeat the request. So does no result within ten seconds.
   */
  receive(request: FeedbackRequest): Promise<FeedbackReceipt>
}
