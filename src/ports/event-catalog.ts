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
}

/** What came of checking an event's data. */
export type DataOutcome =
  | { readonly outcome: 'valid'; readonly data: unknown }
  /** Pointers into the request body, such as `/eventData/total`. */
  | { readonly outcome: 'invalid'; readonly issues: readonly Issue[] }

/** What came of rendering one field. */
export type FieldRendering =
  | { readonly outcome: 'rendered'; readonly value: JsonValue }
  | { readonly outcome: 'missing'; readonly path: string }
  | { readonly outcome: 'error'; readonly detail: string }

/** One channel of an event. */
export interface CatalogChannel {
  readonly channel: string
  /** Absent: always. */
  readonly when?: (facts: EventFacts) => Decision
  /** The fields to render, by name. Empty: the event's data goes out as the field `data`. */
  readonly fields: Readonly<Record<string, (facts: EventFacts) => FieldRendering>>
}

/** One kind of event: everything that dispatching it needs, compiled. */
export interface CatalogEvent {
  readonly eventType: string
  readonly route: Route
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
