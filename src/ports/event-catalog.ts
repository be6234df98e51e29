import type { Issue } from '../errors.ts'
import type { FallbackCause, Priority, Route } from '../model/dispatch.ts'
import type { JsonObject, JsonValue } from '../model/json.ts'
import type { Recipient } from '../model/recipient.ts'
import type { Decision } from './condition-engine.ts'

/** Input of conditions and templates. */
export interface EventFacts<Data = unknown> {
  /** The event's data, as its schema returned it. */
  readonly data: Data
  readonly recipient: Recipient
  /** Data of every event of a digest, oldest first; without a digest, of this event. `data` is the last event's. */
  readonly events: readonly Data[]
  /**
   * Placeholders of the recipient's links, such as `links.unsubscribe` of the plugin `consent`. The link replaces its placeholder when the
   * message is sent: use it unchanged. Absent in a host that makes no links.
   */
  readonly links?: Readonly<Record<string, string>>
}

/** Result of checking an event's data. */
export type DataOutcome =
  | { readonly outcome: 'valid'; readonly data: unknown }
  /** Issues have JSON Pointers into the request body, such as `/eventData/total`. */
  | {
      readonly outcome: 'invalid'
      readonly issues: readonly Issue[]
      /** The error that the schema threw; for the log and `onError` only. */
      readonly cause?: unknown
    }

/** Result of rendering one field. */
export type FieldRendering =
  | { readonly outcome: 'rendered'; readonly value: JsonValue }
  | { readonly outcome: 'missing'; readonly path: string }
  /** `detail` holds no value of the facts. `cause` is the thrown value, for the log and `onError` only. */
  | {
      readonly outcome: 'error'
      readonly detail: string
      readonly cause?: unknown
      /** A template engine threw the cause: its message can quote facts. */
      readonly isLibrary?: boolean
    }

/** Result of a digest's key function. */
export type DigestKey =
  | { readonly outcome: 'key'; readonly key: string }
  /** `detail` and `cause` as in {@link FieldRendering}. */
  | { readonly outcome: 'error'; readonly detail: string; readonly cause?: unknown }

/** A link that a template or a rule of an event reads. */
export interface LinkRead {
  /** As in `links.<name>`. */
  readonly name: string
  /** Absent: the condition of the event. */
  readonly channel?: string
  readonly field: string
}

/** One channel of an event. */
export interface CatalogChannel {
  readonly channel: string
  readonly when?: (facts: EventFacts) => Decision
  /** Fields to render, by name. Empty: the event's data is sent as the field `data`. */
  readonly fields: Readonly<Record<string, (facts: EventFacts) => FieldRendering | Promise<FieldRendering>>>
  /** All templates of its fields are texts, and none names `links`: no message of it has a link. Default: one may have. */
  readonly linkless?: true
  /** The fields that are values, for the check of the channel at start-up. Default: none. */
  readonly values?: Readonly<Record<string, JsonValue>>
}

/** Digest (debounce): events of one type become one delivery. */
export interface CatalogDigest {
  /** Milliseconds from the first event until the delivery is rendered and due. */
  readonly windowMs: number
  readonly max: number
  /** Events with different keys join different digests. */
  readonly key: (facts: EventFacts) => DigestKey
}

/** One event type, compiled. */
export interface CatalogEvent {
  readonly eventType: string
  /** Kind of message that a recipient can unsubscribe from; may be shared by several event types. */
  readonly category: string
  readonly route: Route
  /** With the route `first`: reports after which the next channel follows. Default: none. */
  readonly fallbackOn?: readonly FallbackCause[]
  /** Preferences and quiet hours do not apply. */
  readonly critical: boolean
  /** On each channel, its due deliveries are sent before those of `normal` events. Default: `normal`. */
  readonly priority?: Priority
  /** Delay between acceptance and the first attempt, in milliseconds. */
  readonly delayMs: number
  /** Absent: each event is its own delivery. Only with the route `all`. */
  readonly digest?: CatalogDigest
  /** Channels that a request may choose. */
  readonly overrides: readonly string[]
  /** At least one, in the order of attempts. */
  readonly channels: readonly CatalogChannel[]
  readonly when?: (facts: EventFacts) => Decision
  /** Links that its string templates and JSON rules certainly read. Default: none is known. */
  readonly links?: readonly LinkRead[]
  /** Schema of the data as the host gave it, for views of the catalogue. Default: none. */
  readonly dataSchema?: unknown
  checkData(eventData: JsonObject): DataOutcome | Promise<DataOutcome>
}

/** All events that can be dispatched, from `defineEvents`. The type parameter gives `sallyport.dispatch` each event's data type. */
export interface EventCatalog<Events = unknown> {
  find(eventType: string): CatalogEvent | undefined
  readonly eventTypes: readonly string[]
  /** Type only, absent at run time: `{ [eventType]: data }`. */
  readonly '~events'?: Events
}
