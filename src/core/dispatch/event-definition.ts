import type { Route } from '../../model/dispatch.ts'
import type { JsonObject, JsonValue } from '../../model/json.ts'
import type { EventFacts } from '../../ports/event-catalog.ts'
import type { OutputOf } from './standard-schema.ts'

/** A JSON Logic rule, or a function. A function must be synchronous and give a boolean. */
export type ConditionDefinition<Data> = JsonObject | ((facts: EventFacts<Data>) => boolean)

/** A template, or a function that gives the field itself: a string, or any JSON value for a channel that takes one. */
export type TemplateDefinition<Data> = string | ((facts: EventFacts<Data>) => JsonValue)

/**
 * What goes out on one channel: its condition as `when`, every other key a field of the message. The field `html` is
 * escaped for HTML, all others are put in as they are. No field at all: the event's data goes out as it is.
 */
export interface ChannelDefinition<Data> {
  readonly when?: ConditionDefinition<Data>
  readonly [field: string]: TemplateDefinition<Data> | ConditionDefinition<Data> | undefined
}

/** One kind of event. */
export interface EventDefinition<Schema> {
  /** What the event carries: any Standard Schema, whose input is JSON (a date comes as a string). Default: any object. */
  readonly data?: Schema
  /** When false, every channel is skipped. Default: always. */
  readonly when?: ConditionDefinition<OutputOf<Schema>>
  /** `all` (default): on every channel. `first`: on the first that works, in the order written here. */
  readonly route?: Route
  /** By the names that the host gives its channels. */
  readonly channels: Readonly<Record<string, ChannelDefinition<OutputOf<Schema>>>>
}
