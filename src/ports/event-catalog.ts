import type { Issue } from '../errors.ts'
import type { Route } from '../model/dispatch.ts'
import type { JsonObject, JsonValue } from '../model/json.ts'
import type { Recipient } from '../model/recipient.ts'
import type { Decision } from './condition-engine.ts'

/** What conditions and templates get to see. */
export interface EventFacts<Data = unknown> {
  /** The event's data, as its schema gave it out. */
  readonly data: Data
  readonly recipient: Recipient
  /** The data of every event of a digest, oldest first; without a digest, of this one alone. `data` is that of the last. */
  readonly events: readonly Data[]
}

/** What came of checking an event's data. */
export type DataOutcome =
  | { readonly outcome: 'valid'; readonly data: unknown }
  /** Pointers into the request body, such as `/eventData/total`. */
  | {
      readonly outcome: 'invalid'
      readonly issues: readonly Issue[]
      /** What the schema threw, if it threw: for the log and `onError` alone. */
      readonly cause?: unknown
    }

/** What came of rendering one field. */
export type FieldRendering =
  | { readonly outcome: 'rendered'; readonly value: JsonValue }
  | { readonly outcome: 'missing'; readonly path: string }
  /** `detail` holds no value of the facts. `cause`: what was thrown, for the log and `onError` alone. */
  | {
      readonly outcome: 'error'
      readonly detail: string
      readonly cause?: unknown
      /** A template engine gave the cause: its message can quote facts. */
      readonly isLibrary?: boolean
    }

/** What a digest's key function gave. */
export type DigestKey =
  | { readonly outcome: 'key'; readonly key: string }
  /** `detail` holds no value of the facts. `cause`: what was thrown, for the log and `onError` alone. */
  | { readonly outcome: 'error'; readonly detail: string; readonly cause?: unknown }

/** One channel of an event. */
export interface CatalogChannel {
  readonly channel: string
  /** Absent: always. */
  readonly when?: (facts: EventFacts) => Decision
  /** The fields to render, by name. Empty: the event's data goes out as the field `data`. */
  readonly fields: Readonly<Record<string, (facts: EventFacts) => FieldRendering | Promise<FieldRendering>>>
}

/** How events of one kind become one delivery. */
export interface CatalogDigest {
  /** From the first event until the delivery is rendered and due, in milliseconds. */
  readonly windowMs: number
  /** At most so many events in one delivery. */
  readonly max: number
  /** Events of one recipient whose key differs are kept apart. */
  readonly key: (facts: EventFacts) => DigestKey
}

/** One kind of event: everything that dispatching it needs, compiled. */
export interface CatalogEvent {
  readonly eventType: string
  readonly route: Route
  /** Preferences and quiet hours do not hold it back. */
  readonly critical: boolean
  /** How long after acceptance it is due, in milliseconds. */
  readonly delayMs: number
  /** Absent: every event goes out by itself. Only with the route `all`. */
  readonly digest?: CatalogDigest
  /** The channels that a request may name. */
  readonly overrides: readonly string[]
  /** In the order in which they are tried. At least one. */
  readonly channels: readonly CatalogChannel[]
  readonly when?: (facts: EventFacts) => Decision
  checkData(eventData: JsonObject): DataOutcome | Promise<DataOutcome>
}

/**
 * The events that can be dispatched. `defineEvents` makes one; its type parameter carries each event's data to
 * `sallyport.dispatch`.
 */
export interface EventCatalog<Events = unknown> {
  find(eventType: string): CatalogEvent | undefined
  /** All event keys. */
  readonly eventTypes: readonly string[]
  /** Never there at run time: carries `{ [eventType]: data }`. */
  readonly '~events'?: Events
}
