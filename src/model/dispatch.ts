import type { JsonObject, JsonValue } from './json.ts'
import type { Recipient } from './recipient.ts'

/**
 * The state of a delivery. `queued` waits until it is due, `sending` is leased by a worker, `held` waits for the channel before it to
 * fail. Final: `sent` (accepted by the provider; it may still bounce), `failed`, `skipped` (not an error), `cancelled`, `expired`.
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

/** One comparison of a condition and its result. */
export interface ConditionTrace {
  /** The operator; `function` for a condition that is a function. */
  readonly rule: string
  /** The variable, such as `data.total`. */
  readonly path?: string
  /** The value that it was compared with. */
  readonly expected?: JsonValue
  /** The value of the variable. Only of `data.*`, which the caller sent: the host's data about a recipient stays private. */
  readonly actual?: JsonValue
  readonly result: boolean
}

/** Rendered fields by name (`subject`, `html`, `text`, …), as the channel gets them. */
export type Content = Readonly<Record<string, JsonValue>>

/** The end of one attempt. */
export interface AttemptEnd {
  /** `retry`: certainly not sent. `unknown`: may have been sent. */
  readonly outcome: 'sent' | 'retry' | 'unknown' | 'rejected'
  /** The channel's code for a failure. */
  readonly code?: string
  /** The provider that was used, if the channel has several. */
  readonly provider?: string
  readonly providerMessageId?: string
}

/** A stored attempt. Without `outcome` it is under way, or its worker died and it may have been sent. */
export interface Attempt extends Partial<AttemptEnd> {
  /** 1 for the first. */
  readonly attempt: number
  /** When a worker claimed it, epoch milliseconds by the store's clock. */
  readonly startedAt: number
  /** When its end was stored, by the store's clock. Never before `startedAt`. */
  readonly endedAt?: number
}

/** Several events that become one delivery, which is rendered when its window ends. */
export interface Digest {
  /** Events of the same tenant, event type, recipient, channel, address and key join the same digest. */
  readonly key: string
  /** The most events; the next one opens another digest. */
  readonly max: number
  /** As resolved when the digest was opened. */
  readonly recipient: Recipient
  /** Oldest first. */
  readonly events: readonly DigestedEvent[]
}

/** One event of a digest. */
export interface DigestedEvent {
  readonly dispatchId: string
  /** As it was sent; the event's schema parses it again when the digest is rendered. */
  readonly eventData: JsonObject
}

/** A stored delivery: one channel of a dispatch. Instants are epoch milliseconds. */
export interface Delivery {
  readonly deliveryId: string
  readonly channel: string
  readonly status: DeliveryStatus
  readonly reason?: DeliveryReason
  /** Incremented when a worker claims the delivery, before it sends; decremented when the worker reports that it did not try. */
  readonly attempts: number
  /** The newest 50 or more, oldest first. */
  readonly attemptLog: readonly Attempt[]
  /** When it is due; only while it is `queued`. */
  readonly dueAt?: number
  /** It was delayed, deferred, digested or held: the policy is asked again before it is sent. */
  readonly deferred?: true
  /** Deliveries of the same channel and key share one receiver and its concurrency limit. */
  readonly concurrencyKey?: string
  /** The channel's code for the last failure. */
  readonly lastCode?: string
  readonly providerMessageId?: string
  readonly trace?: readonly ConditionTrace[]
  /** Absent when it was never to be sent. */
  readonly address?: string
  /** Rendered at acceptance (a digest: at the end of its window), and the same for every attempt. */
  readonly content?: Content
  /** The number of events, if the delivery is a digest. */
  readonly eventCount?: number
}

/** A stored dispatch: an accepted event for one recipient. Instants are epoch milliseconds. */
export interface Dispatch {
  readonly dispatchId: string
  readonly tenant: string
  readonly eventType: string
  readonly recipient: string
  readonly sessionId?: string
  readonly route: Route
  /** Preferences and quiet hours do not apply. */
  readonly critical?: true
  /** Planned and recorded in sandbox mode: never sent. */
  readonly sandboxed?: true
  readonly locale?: string
  /** When it was accepted, by the store's clock. */
  readonly createdAt: number
  /** In the order of the event's channels. */
  readonly deliveries: readonly Delivery[]
}

/** A dispatch without its deliveries. */
export type DispatchHead = Omit<Dispatch, 'deliveries'>

/** The public view of an attempt. Instants are RFC 3339. */
export interface AttemptView {
  readonly attempt: number
  readonly startedAt: string
  readonly endedAt?: string
  /** `lost`: its worker died and it may have been sent. Absent: under way. */
  readonly outcome?: AttemptEnd['outcome'] | 'lost'
  readonly code?: string
  readonly provider?: string
}

/** The public view of a delivery. Instants are RFC 3339. */
export interface DeliveryView {
  readonly deliveryId: string
  readonly channel: string
  readonly status: DeliveryStatus
  readonly reason?: DeliveryReason
  readonly attempts: number
  /** Oldest first; absent before the first attempt. */
  readonly attemptLog?: readonly AttemptView[]
  /** Absent when it is due at once. */
  readonly nextAttemptAt?: string
  /** The number of events, if this delivery is a digest. */
  readonly eventCount?: number
  readonly lastCode?: string
  readonly providerMessageId?: string
  readonly trace?: readonly ConditionTrace[]
}

/** A remark on something that was accepted but may be a mistake. */
export interface Warning {
  readonly code: 'unknown_field' | 'clamped' | 'usage_looks_exclusive' | 'usage_overruled' | 'not_final' | 'unpriced'
  /** JSON Pointer into the request body. */
  readonly pointer: string
  readonly detail: string
}

/** The public view of a dispatch. Instants are RFC 3339. */
export interface DispatchView {
  readonly dispatchId: string
  readonly status: DispatchStatus
  readonly eventType: string
  readonly recipient: string
  readonly sessionId?: string
  /** Accepted in sandbox mode: never sent. */
  readonly sandboxed?: true
  /** When it was accepted, by the store's clock. */
  readonly createdAt: string
  readonly deliveries: readonly DeliveryView[]
}

/** The answer to an accepted dispatch. */
export interface DispatchAnswer extends DispatchView {
  /** Whether this repeats the answer to the first request with the same `Idempotency-Key`. */
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
  /** Send only through this channel of the event. Conditions and policy still apply. */
  readonly channel?: string
  /** The agent session that it belongs to, 1-200 visible ASCII characters. */
  readonly sessionId?: string
}

/** One delivery of a dry run. */
export interface PreviewedDelivery extends Pick<Delivery, 'channel' | 'status' | 'reason' | 'trace'> {
  /** Why it would fail. */
  readonly detail?: string
  /** Masked: enough to recognise the address, not to use it. */
  readonly address?: string
  /** Of a digest: its content with this event alone. */
  readonly content?: Content
  /** Absent when it would be due at once. */
  readonly nextAttemptAt?: string
}

/**
 * The answer to `?dryRun=true`: the plan of the event. Nothing is stored or sent. Throttles are not checked: they count stored
 * events only.
 */
export interface DispatchPreview extends Pick<DispatchAnswer, 'eventType' | 'sessionId' | 'sandboxed' | 'warnings'> {
  readonly dryRun: true
  readonly status: DispatchStatus
  readonly deliveries: readonly PreviewedDelivery[]
}

/** The input of `dispatch` for one event type of a catalogue, with the data that its schema requires. */
export type DispatchInput<Events, Type extends EventTypeOf<Events>> = Omit<
  DispatchRequest,
  'eventType' | 'eventData'
> & {
  readonly eventType: Type
} & (JsonObject extends DataOf<Events, Type>
    ? { readonly eventData?: DataOf<Events, Type> }
    : { readonly eventData: DataOf<Events, Type> })

/** The event keys of a catalogue; any string if the catalogue has an unknown type, so that one type error causes no others. */
export type EventTypeOf<Events> = unknown extends Events ? string : keyof Events & string

type DataOf<Events, Type> = Type extends keyof Events ? Events[Type] : JsonObject

/**
 * Derives the state of a dispatch. `partial`: one delivery failed and another was or may still be sent. On the route `first` one success
 * is enough, so earlier failures do not count.
 */
export function statusOfDispatch(statuses: readonly DeliveryStatus[], route: Route): DispatchStatus {
  const has = (...wanted: readonly DeliveryStatus[]): boolean => statuses.some((status) => wanted.includes(status))
  const open = has('queued', 'sending', 'held')
  const lost = has('failed', 'expired')
  if (lost && route === 'all' && (open || has('sent'))) return 'partial'
  if (open) return 'queued'
  if (has('sent')) return 'sent'
  if (lost) return 'failed'
  return has('cancelled') ? 'cancelled' : 'skipped'
}

/** Whether a failure with this reason happened in the host's code: a template, a condition, `digest.key`. */
export function isHostCodeReason(reason: DeliveryReason | undefined): boolean {
  return reason === 'template_error' || reason === 'condition_error'
}
