import type { JsonObject, JsonValue } from './json.ts'
import type { Recipient } from './recipient.ts'

/**
 * Where a delivery is.
 *
 * `queued` waits for its time, `sending` is leased by a worker, `held` waits for the channel before it to fail.
 * Final: `sent` (the provider took it; nothing more is claimed), `failed`, `skipped` (not an error), `cancelled`, `expired`.
 */
export type DeliveryStatus = 'queued' | 'sending' | 'sent' | 'failed' | 'skipped' | 'held' | 'cancelled' | 'expired'

/** Why a delivery was skipped or failed. */
export type DeliveryReason =
  | 'condition_false'
  | 'no_address'
  | 'opted_out'
  | 'throttled'
  | 'fallback_unneeded'
  | 'sandboxed'
  | 'provider_rejected'
  | 'attempts_exhausted'
  | 'condition_error'
  | 'template_error'
  | 'channel_error'

/** `all`: every channel of the event. `first`: in order, each only when the one before it failed. */
export type Route = 'all' | 'first'

/** The state of a whole dispatch, derived from its deliveries. */
export type DispatchStatus = 'queued' | 'sent' | 'partial' | 'failed' | 'skipped' | 'cancelled'

/** One comparison of a condition, and how it came out. */
export interface ConditionTrace {
  /** The operator, or `function` for a condition that is one. */
  readonly rule: string
  /** What was looked up, such as `data.total`. */
  readonly path?: string
  /** What it was compared with. */
  readonly expected?: JsonValue
  /** What was found; only under `data.`, which the caller sent: what the host knows of a recipient stays with the host. */
  readonly actual?: JsonValue
  readonly result: boolean
}

/** Rendered fields by name (`subject`, `html`, `text`, …), as the channel will get them. */
export type Content = Readonly<Record<string, JsonValue>>

/** How one attempt ended. */
export interface AttemptEnd {
  /** `retry`: certainly not sent. `unknown`: may have been sent. */
  readonly outcome: 'sent' | 'retry' | 'unknown' | 'rejected'
  /** What the channel gave for not having sent. */
  readonly code?: string
  /** Which of several providers it was, where a channel has several. */
  readonly provider?: string
  readonly providerMessageId?: string
}

/** One attempt at a delivery, as it is stored. With no `outcome` it is under way, or its worker died: it may have been sent. */
export interface Attempt extends Partial<AttemptEnd> {
  /** 1 for the first. */
  readonly attempt: number
  /** When a worker took it up, epoch milliseconds by the store's clock. */
  readonly startedAt: number
  /** When its end was written down, by the store's clock: never before it began. */
  readonly endedAt?: number
}

/** Several events that go out as one delivery: what it is rendered from once its time has come. */
export interface Digest {
  /** Events of one tenant, event type, recipient, channel, address and key belong together. */
  readonly key: string
  /** At most so many events: the next one opens a digest of its own. */
  readonly max: number
  /** As they were found when it was opened. */
  readonly recipient: Recipient
  /** Oldest first. */
  readonly events: readonly DigestedEvent[]
}

/** One event of a digest. */
export interface DigestedEvent {
  readonly dispatchId: string
  /** As it was sent; the event's schema reads it once more when the digest is rendered. */
  readonly eventData: JsonObject
}

/** One channel's part of a dispatch, as it is stored. Instants are epoch milliseconds. */
export interface Delivery {
  readonly deliveryId: string
  readonly channel: string
  readonly status: DeliveryStatus
  readonly reason?: DeliveryReason
  /** Counted when a worker claims the delivery, before it sends; taken back when the worker says that it did not try. */
  readonly attempts: number
  /** The newest 50 or more, oldest first. */
  readonly attemptLog: readonly Attempt[]
  /** When it is due, while it is `queued`. */
  readonly dueAt?: number
  /** It was not to go out at once (delayed, deferred, digested or held): the policy is asked again before it does. */
  readonly deferred?: true
  /** Deliveries of one channel and key share a receiver, which is sent only so many at a time. */
  readonly concurrencyKey?: string
  /** The last code that the channel gave for not having sent. */
  readonly lastCode?: string
  readonly providerMessageId?: string
  readonly trace?: readonly ConditionTrace[]
  /** Where it goes; absent when it was never to be sent. */
  readonly address?: string
  /** What it says; rendered when it was accepted (a digest: when its window ended), and the same for every attempt. */
  readonly content?: Content
  /** How many events the digest holds that it is. */
  readonly eventCount?: number
}

/** An accepted event for a recipient, as it is stored. Instants are epoch milliseconds. */
export interface Dispatch {
  readonly dispatchId: string
  readonly tenant: string
  readonly eventType: string
  readonly recipient: string
  readonly sessionId?: string
  readonly route: Route
  /** Preferences and quiet hours do not hold it back. */
  readonly critical?: true
  /** Planned and recorded in sandbox mode: nothing of it is sent. */
  readonly sandboxed?: true
  readonly locale?: string
  /** When it was accepted, by the store's clock. */
  readonly createdAt: number
  /** In the order of the event's channels. */
  readonly deliveries: readonly Delivery[]
}

/** A dispatch without its deliveries. */
export type DispatchHead = Omit<Dispatch, 'deliveries'>

/** An attempt as a caller sees it. Instants are RFC 3339. */
export interface AttemptView {
  readonly attempt: number
  readonly startedAt: string
  readonly endedAt?: string
  /** `lost`: its worker died, and it may have been sent. Absent: under way. */
  readonly outcome?: AttemptEnd['outcome'] | 'lost'
  readonly code?: string
  readonly provider?: string
}

/** A delivery as a caller sees it. Instants are RFC 3339. */
export interface DeliveryView {
  readonly deliveryId: string
  readonly channel: string
  readonly status: DeliveryStatus
  readonly reason?: DeliveryReason
  readonly attempts: number
  /** Each attempt and how it ended, oldest first; absent before the first. */
  readonly attemptLog?: readonly AttemptView[]
  /** Absent when it is due at once. */
  readonly nextAttemptAt?: string
  /** How many events the digest holds that this delivery is. */
  readonly eventCount?: number
  readonly lastCode?: string
  readonly providerMessageId?: string
  readonly trace?: readonly ConditionTrace[]
}

/** Something that was accepted but deserves a look. */
export interface Warning {
  readonly code: 'unknown_field' | 'clamped' | 'usage_looks_exclusive' | 'usage_overruled' | 'not_final' | 'unpriced'
  /** JSON Pointer into the request body. */
  readonly pointer: string
  readonly detail: string
}

/** A dispatch as a caller sees it. Instants are RFC 3339. */
export interface DispatchView {
  readonly dispatchId: string
  readonly status: DispatchStatus
  readonly eventType: string
  readonly recipient: string
  readonly sessionId?: string
  /** Sandbox mode was on: nothing of this is sent, ever. */
  readonly sandboxed?: true
  /** When it was accepted, by the store's clock. */
  readonly createdAt: string
  readonly deliveries: readonly DeliveryView[]
}

/** The answer to an accepted dispatch. */
export interface DispatchAnswer extends DispatchView {
  /** Whether this answers a repeated `Idempotency-Key` with what the first post got. */
  readonly duplicate: boolean
  readonly warnings: readonly Warning[]
}

/** The body of `POST /api/outbound/dispatch`. */
export interface DispatchRequest {
  /** An event key of the catalogue, 1-256 of `A-Z a-z 0-9 . _ -`. */
  readonly eventType: string
  /** A mail address, an E.164 number, an `https:` URL, or a user id; 1-2,048 characters. */
  readonly recipient: string
  /** The payload for conditions and templates. Default `{}`. */
  readonly eventData?: JsonObject
  /** Send through this one of the event's channels only. Conditions and policy still apply. */
  readonly channel?: string
  /** Correlates with an agent's session, 1-200 visible ASCII characters. */
  readonly sessionId?: string
}
