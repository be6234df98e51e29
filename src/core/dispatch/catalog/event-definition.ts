import type { FallbackCause, Priority, Route } from '../../../model/dispatch.ts'
import type { JsonObject, JsonValue } from '../../../model/json.ts'
import type { ConditionEngine } from '../../../ports/condition-engine.ts'
import type { EventFacts } from '../../../ports/event-catalog.ts'
import type { TemplateEngine } from '../../../ports/template-engine.ts'

/** Engines for the string templates and JSON rules of a catalogue. */
export interface EventEngines {
  /** For string templates: `liquid()` from `sallyport/liquid`. Default: a string template stops start-up. */
  readonly templates?: TemplateEngine
  /** For JSON rules: `jsonLogic()` from `sallyport/json-logic`. Default: a JSON rule stops start-up. */
  readonly conditions?: ConditionEngine
}

/** A JSON Logic rule, or a synchronous function that returns a boolean. */
export type ConditionDefinition<Data> = JsonObject | ((facts: EventFacts<Data>) => boolean)

/**
 * A template; a function that returns the field, or a promise of it: a string, or any JSON value that the channel accepts; or a list or
 * an object, which is the field itself: texts in it are no templates.
 *
 * All functions of an event are called at once. A promise has 5 seconds, all fields of a dispatch have 10: after that the channel fails
 * with `template_error`, and a digest waits a minute. A function that blocks cannot be limited.
 *
 * @example
 * { html: async ({ data }) => render(OrderShipped(data)) }
 */
export type TemplateDefinition<Data> =
  | string
  | readonly JsonValue[]
  | JsonObject
  | ((facts: EventFacts<Data>) => JsonValue | PromiseLike<JsonValue>)

/**
 * Fields in other languages, by BCP 47 tag such as `de-AT`. Each field is looked up by the recipient's locale (RFC 4647, section
 * 3.4): `de-AT`, then `de`, then the channel's own field, which is also used for recipients without a well-formed locale.
 */
export type LocaleDefinitions<Data> = Readonly<
  Record<string, Readonly<Record<string, TemplateDefinition<Data> | undefined>>>
>

/**
 * Message of one channel: `when` is its condition, `locales` has other languages, every other key is a field of the message. Values
 * in the field `html` are escaped for HTML, those in other fields are not. Without fields the event's data is sent as it is.
 */
export interface ChannelDefinition<Data> {
  /** A function of the facts, or a JSON rule. A false one skips this channel. Default: always true. */
  readonly when?: ConditionDefinition<Data>
  /** Fields of other languages, by language tag such as `de`; a field that a language lacks is the channel's own. Default: none. */
  readonly locales?: LocaleDefinitions<Data>
  readonly [field: string]: TemplateDefinition<Data> | ConditionDefinition<Data> | LocaleDefinitions<Data> | undefined
}

/** Collects several events into one delivery. */
export interface DigestDefinition<Data> {
  /** Milliseconds from the first event until the delivery is rendered and due: a whole number, 1 to 2,678,400,000 (31 days). */
  readonly windowMs: number
  /** Maximum events in one delivery, 1-1,000; the next event opens another. Default: 100. */
  readonly max?: number
  /** Separates a recipient's events by a key: synchronous, at most 512 characters. Default: one digest for each channel. */
  readonly key?: (facts: EventFacts<Data>) => string
}

/** One event type. */
export interface EventDefinition<Schema> {
  /** Event data: any Standard Schema whose input is JSON (dates are strings). Default: any object. */
  readonly data?: Schema
  /**
   * Kind of message, such as `newsletter`: 1-100 of `A-Z a-z 0-9 . _ -`. An unsubscribe link covers all events of one category.
   * Default: the event type.
   */
  readonly category?: string
  /** A false condition skips every channel. Default: always true. */
  readonly when?: ConditionDefinition<OutputOf<Schema>>
  /** `all` (default): every channel. `first`: the first channel that succeeds, in the order of `channels`. */
  readonly route?: Route
  /**
   * Reports of the provider after which the next channel follows, though the message was sent; only with the route `first`. Once for each
   * delivery, and only until the dispatch expires. Needs a plugin that reads such reports: `consent({ keys, feedback })`. Default: none.
   */
  readonly fallbackOn?: readonly FallbackCause[]
  /** Ignores preferences and quiet hours, for example for a password reset. Default: `false`. */
  readonly critical?: boolean
  /**
   * `urgent`: on each channel, its due deliveries are sent before all due deliveries of `normal` events, those of other tenants too. For
   * messages that someone waits for, such as login codes. Bypasses no policy, limit or delay. Default: `normal`.
   *
   * @example
   * { priority: 'urgent', channels: { sms: { text: ({ data }) => `Your code: ${data.code}` } } }
   */
  readonly priority?: Priority
  /** Milliseconds from acceptance until it is due: a whole number, 0 to 31,622,400,000 (366 days). Default: 0. */
  readonly delayMs?: number
  /** Collects a recipient's events into one delivery; only with the route `all`. Conditions read single events. Default: none. */
  readonly digest?: DigestDefinition<OutputOf<Schema>>
  /** By the host's channel names. */
  readonly channels: Readonly<Record<string, ChannelDefinition<OutputOf<Schema>>>>
  /** Channels that a request may select as the only one. Default: all. */
  readonly overrides?: readonly string[]
}

/** A schema of any library that implements Standard Schema v1 (valibot, zod, arktype, …). */
export interface StandardSchema<Input = unknown, Output = unknown> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

/** Input type of a schema; any object without one. */
export type InputOf<Schema> = Schema extends StandardSchema
  ? NonNullable<Schema['~standard']['types']>['input']
  : JsonObject

/** Output type of a schema; any object without one. */
export type OutputOf<Schema> = Schema extends StandardSchema
  ? NonNullable<Schema['~standard']['types']>['output']
  : JsonObject

/** Result of a schema: the parsed value or issues. */
export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] }

/** One issue of a schema. */
export interface StandardIssue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}
