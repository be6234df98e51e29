import type { Attempt, AttemptView } from './attempt.ts'
import type { FeedbackView } from './feedback.ts'
import type { JsonObject, JsonValue } from './json.ts'
import type { Recipient } from './recipient.ts'
import type { SuppressionView } from './suppression.ts'
import type { DeliveryWaiting, StoredWait } from './waiting.ts'

/**
 * Status of a delivery. `sending`: leased by a worker. `held`: waits for the failure of the previous channel. Final: `sent`
 * (accepted by the provider; may still bounce), `failed`, `skipped` (not an error), `cancelled`, `expired`.
 */
export type DeliveryStatus = 'queued' | 'sending' | 'sent' | 'failed' | 'skipped' | 'held' | 'cancelled' | 'expired'

/** Reason why a delivery was skipped or failed. */
export type DeliveryReason =
  | 'condition_false'
  | 'no_address'
  | 'opted_out'
  | 'suppressed'
  | 'throttled'
  | 'fallback_unneeded'
  | 'sandboxed'
  | 'provider_rejected'
  | 'channel_rejected'
  | 'attempts_exhausted'
  | 'condition_error'
  | 'template_error'
  | 'channel_error'
  | 'record_unreadable'

/** `all`: every channel of the event. `first`: in order, each channel only when the previous one failed. */
export type Route = 'all' | 'first'

/** Priority of an event: on each channel, due deliveries of `urgent` events are sent before those of `normal` ones. */
export type Priority = 'urgent' | 'normal'

/** Report of a provider after which the next channel of the route `first` follows. */
export type FallbackCause = 'bounced'

export const FALLBACK_CAUSES: readonly FallbackCause[] = ['bounced']

/** Status of a dispatch, derived from its deliveries. */
export type DispatchStatus = 'queued' | 'sent' | 'partial' | 'failed' | 'skipped' | 'cancelled'

/** One comparison of a condition, with its result. */
export interface ConditionTrace {
  /** The operator; `function` for a condition that is a function. */
  readonly rule: string
  /** The variable, such as `data.total`. */
  readonly path?: string
  readonly expected?: JsonValue
  /** The variable's value. Only for `data.*`, which the caller sent: host data about a recipient stays private. */
  readonly actual?: JsonValue
  readonly result: boolean
}

/** Rendered fields by name (`subject`, `html`, `text`, …), as the channel receives them. */
export type Content = Readonly<Record<string, JsonValue>>

/** Several events in one delivery, which is rendered when its window ends. */
export interface Digest {
  /** Events of the same tenant, event type, recipient, channel, address and key join the same digest. */
  readonly key: string
  /** Maximum number of events; the next event opens another digest. */
  readonly max: number
  /** As resolved when the digest was opened. */
  readonly recipient: Recipient
  /** Oldest first. */
  readonly events: readonly DigestedEvent[]
}

/** One event of a digest. */
export interface DigestedEvent {
  readonly dispatchId: string
  /** As sent; the event's schema parses it again when the digest is rendered. */
  readonly eventData: JsonObject
}

/** A stored delivery: one channel of a dispatch. Instants are epoch milliseconds. */
export interface Delivery {
  readonly deliveryId: string
  readonly channel: string
  readonly status: DeliveryStatus
  readonly reason?: DeliveryReason
  /** Incremented by a claim, before the send; decremented when the worker reports that it did not try. */
  readonly attempts: number
  /** At least the newest 50, oldest first. */
  readonly attemptLog: readonly Attempt[]
  /** Due time; only while `queued`. */
  readonly dueAt?: number
  /** Only while `queued`. */
  readonly waitsFor?: StoredWait
  /** Delayed, deferred, digested or held: the policy is called again before the send. */
  readonly deferred?: true
  /** Deliveries of the same channel and key share one receiver and its concurrency limit. */
  readonly concurrencyKey?: string
  /** The channel's code for the last failure. */
  readonly lastCode?: string
  readonly providerMessageId?: string
  readonly trace?: readonly ConditionTrace[]
  /** Absent when there was never an address to send to. */
  readonly address?: string
  /** Rendered at acceptance (a digest: at the end of its window); equal for every attempt. */
  readonly content?: Content
  readonly eventCount?: number
}

/** A stored dispatch: an accepted event for one recipient. Instants are epoch milliseconds. */
export interface Dispatch {
  readonly dispatchId: string
  readonly tenant: string
  /** Id of the principal that dispatched it: a credential, a token's `jti`, or `host`. */
  readonly by: string
  readonly eventType: string
  readonly recipient: string
  readonly sessionId?: string
  readonly route: Route
  /** Preferences and quiet hours do not apply. */
  readonly critical?: true
  /** Absent: `normal`. */
  readonly priority?: 'urgent'
  /** Planned and recorded in sandbox mode: never sent. */
  readonly sandboxed?: true
  readonly locale?: string
  /**
   * Guards and links of plugins under which it was accepted, such as `consent` and `consent.unsubscribe`: a worker without one of them sends
   * nothing. Default: none.
   */
  readonly plugins?: readonly string[]
  /** Time of acceptance, by the store's clock. */
  readonly createdAt: number
  /** In the order of the event's channels. */
  readonly deliveries: readonly Delivery[]
}

/** A dispatch without its deliveries. */
export type DispatchHead = Omit<Dispatch, 'deliveries'>

/** Recipient of an erased dispatch. */
export const ERASED = 'erased'

/** Public view of a delivery. Instants are RFC 3339. */
export interface DeliveryView {
  readonly deliveryId: string
  readonly channel: string
  readonly status: DeliveryStatus
  readonly reason?: DeliveryReason
  readonly attempts: number
  /** Oldest first; absent before the first attempt. */
  readonly attemptLog?: readonly AttemptView[]
  /** Absent when due at once. */
  readonly nextAttemptAt?: string
  /** Present while it waits. Absent when it is due: then it waits for a worker only. */
  readonly waiting?: DeliveryWaiting
  /** Number of events of a digest. */
  readonly eventCount?: number
  readonly lastCode?: string
  readonly providerMessageId?: string
  readonly trace?: readonly ConditionTrace[]
  /** Masked: recognisable, but not usable. Only with `content: true`, or with `suppressions`. */
  readonly address?: string
  /**
   * Suppressions of its address that hold now, oldest first: empty once they are lifted. Only of a delivery that is read alone, and is
   * suppressed, or has failed and could not be sent again.
   */
  readonly suppressions?: readonly SuppressionView[]
  /** Rendered fields. Links that name the recipient are placeholders. Only with `content: true`. */
  readonly content?: Content
  /** Reports of the provider, oldest first: one for each kind and code. Absent without reports. */
  readonly feedback?: readonly FeedbackView[]
}

/** Warning about accepted input that may be a mistake. */
export interface Warning {
  readonly code:
    | 'unknown_field'
    | 'clamped'
    | 'usage_unknown'
    | 'usage_conflict'
    | 'usage_unread'
    | 'usage_in_counts'
    | 'usage_looks_exclusive'
    | 'usage_overruled'
    | 'not_final'
    | 'unpriced'
    | 'unpriced_part'
  readonly pointer: string
  readonly detail: string
}

/** Public view of a dispatch. Instants are RFC 3339. */
export interface DispatchView {
  readonly dispatchId: string
  readonly status: DispatchStatus
  readonly eventType: string
  readonly recipient: string
  readonly sessionId?: string
  /** Absent: `normal`. */
  readonly priority?: 'urgent'
  readonly sandboxed?: true
  /** Id of the credential or session token that dispatched it; `host`: this process. */
  readonly by: string
  readonly createdAt: string
  readonly deliveries: readonly DeliveryView[]
}

/** Answer to an accepted dispatch. */
export interface DispatchAnswer extends Omit<DispatchView, 'by'> {
  /** Repeats the answer to the first request with the same `Idempotency-Key`. */
  readonly duplicate: boolean
  readonly warnings: readonly Warning[]
}

/** Body of `POST /api/outbound/dispatch`. */
export interface DispatchRequest {
  /** An event key of the catalogue, 1-256 of `A-Z a-z 0-9 . _ -`. */
  readonly eventType: string
  /** A mail address, an E.164 number, an `https:` URL, or a user id; 1-2,048 characters. */
  readonly recipient: string
  /** Data for conditions and templates. Default: `{}`. */
  readonly eventData?: JsonObject
  /** Sends only through this channel of the event. Conditions and policy still apply. */
  readonly channel?: string
  /** Agent session of the dispatch, 1-200 visible ASCII characters, and not `.` or `..`. */
  readonly sessionId?: string
}

/** One delivery of a dry run. */
export interface PreviewedDelivery extends Pick<Delivery, 'channel' | 'status' | 'reason' | 'trace'> {
  readonly detail?: string
  /** Masked: recognisable, but not usable. */
  readonly address?: string
  /** For a digest: its content with this event alone. */
  readonly content?: Content
  /** Absent when due at once. */
  readonly nextAttemptAt?: string
  /** The wait before its first attempt: its end and its cause. */
  readonly waiting?: DeliveryWaiting
}

/** Answer to `?dryRun=true`: nothing is stored or sent. Throttles are not checked, because they count stored events only. */
export interface DispatchPreview extends Pick<DispatchAnswer, 'eventType' | 'sessionId' | 'sandboxed' | 'warnings'> {
  readonly dryRun: true
  readonly status: DispatchStatus
  readonly deliveries: readonly PreviewedDelivery[]
}

/** Input of `dispatch` for one event type of a catalogue, with the data that its schema requires. */
export type DispatchInput<Events, Type extends EventTypeOf<Events>> = Omit<
  DispatchRequest,
  'eventType' | 'eventData'
> & {
  readonly eventType: Type
} & (JsonObject extends DataOf<Events, Type>
    ? { readonly eventData?: DataOf<Events, Type> }
    : { readonly eventData: DataOf<Events, Type> })

/** Event keys of a catalogue; any string if the catalogue's type is unknown, so that one type error causes no others. */
export type EventTypeOf<Events> = unknown extends Events ? string : keyof Events & string

type DataOf<Events, Type> = Type extends keyof Events ? Events[Type] : JsonObject

/** Derives the status. `partial`: one delivery failed, another was or may be sent. With `first`, earlier failures do not count. */
export function statusOfDispatch(statuses: readonly DeliveryStatus[], route: Route): DispatchStatus {
  let [isOpen, isSent, isLost, isCancelled] = [false, false, false, false]
  for (const status of statuses) {
    if (status === 'queued' || status === 'sending' || status === 'held') isOpen = true
    else if (status === 'sent') isSent = true
    else if (status === 'failed' || status === 'expired') isLost = true
    else if (status === 'cancelled') isCancelled = true
  }
  if (isLost && route === 'all' && (isOpen || isSent)) return 'partial'
  if (isOpen) return 'queued'
  if (isSent) return 'sent'
  if (isLost) return 'failed'
  return isCancelled ? 'cancelled' : 'skipped'
}

/** True for a failure in host code: a template, a condition, `digest.key`. */
export function isHostCodeReason(reason: DeliveryReason | StoredWait | undefined): boolean {
  return reason === 'template_error' || reason === 'condition_error'
}
