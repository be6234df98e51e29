import type { Route } from '../../../model/dispatch.ts'
import type { JsonObject, JsonValue } from '../../../model/json.ts'
import type { ConditionEngine } from '../../../ports/condition-engine.ts'
import type { EventFacts } from '../../../ports/event-catalog.ts'
import type { TemplateEngine } from '../../../ports/template-engine.ts'
import type { OutputOf } from './standard-schema.ts'

/** What compiles the templates and rules of a catalogue that are not functions. */
export interface EventEngines {
  /** For string templates: `liquid()` from `sallyport/liquid`. Default: a string template stops start-up. */
  readonly templates?: TemplateEngine
  /** For JSON rules: `jsonLogic()` from `sallyport/json-logic`. Default: a JSON rule stops start-up. */
  readonly conditions?: ConditionEngine
}

/** A JSON Logic rule, or a function. A function must be synchronous and give a boolean. */
export type ConditionDefinition<Data> = JsonObject | ((facts: EventFacts<Data>) => boolean)

/** A template, or a function that gives the field itself: a string, or any JSON value for a channel that takes one. */
export type TemplateDefinition<Data> = string | ((facts: EventFacts<Data>) => JsonValue)

/**
 * Fields in other languages, by BCP 47 tag such as `de-AT`. A recipient's locale is looked up field by field as in RFC 4647,
 * section 3.4: `de-AT`, then `de`, then the channel's own field, which is also for those who have no locale or a malformed one.
 */
export type LocaleDefinitions<Data> = Readonly<
  Record<string, Readonly<Record<string, TemplateDefinition<Data> | undefined>>>
>

/**
 * What goes out on one channel: its condition as `when`, other languages as `locales`, every other key a field of the message.
 * The field `html` is escaped for HTML, all others are put in as they are. No field at all: the event's data goes out as it is.
 */
export interface ChannelDefinition<Data> {
  readonly when?: ConditionDefinition<Data>
  readonly locales?: LocaleDefinitions<Data>
  readonly [field: string]: TemplateDefinition<Data> | ConditionDefinition<Data> | LocaleDefinitions<Data> | undefined
}

/** How several events become one delivery. */
export interface DigestDefinition<Data> {
  /** From the first event until the delivery is rendered and due, in milliseconds: whole, 1 to 2,678,400,000 (31 days). */
  readonly windowMs: number
  /** At most so many events in one delivery, 1-1,000; the next one opens another. Default: 100. */
  readonly max?: number
  /**
   * Events of one recipient whose key differs are kept apart. Must be synchronous and give at most 512 characters. Default: all
   * that one recipient gets on a channel go together.
   */
  readonly key?: (facts: EventFacts<Data>) => string
}

/** One kind of event. */
export interface EventDefinition<Schema> {
  /** What the event carries: any Standard Schema, whose input is JSON (a date comes as a string). Default: any object. */
  readonly data?: Schema
  /** When false, every channel is skipped. Default: always. */
  readonly when?: ConditionDefinition<OutputOf<Schema>>
  /** `all` (default): on every channel. `first`: on the first that works, in the order written here. */
  readonly route?: Route
  /** Preferences and quiet hours do not hold it back: a password reset, say. Default: `false`. */
  readonly critical?: boolean
  /** How long after acceptance it is due, in milliseconds: whole, 0 to 31,622,400,000 (366 days). Default: 0. */
  readonly delayMs?: number
  /**
   * Gathers the events of one recipient into one delivery; only with the route `all`. Conditions still see each event alone.
   * Default: each goes out by itself.
   */
  readonly digest?: DigestDefinition<OutputOf<Schema>>
  /** By the names that the host gives its channels. */
  readonly channels: Readonly<Record<string, ChannelDefinition<OutputOf<Schema>>>>
  /** Which of `channels` a request may name as the only one to use. Default: all. */
  readonly overrides?: readonly string[]
}
