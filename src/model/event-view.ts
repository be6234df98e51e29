import type { FallbackCause, Route } from './dispatch.ts'
import type { JsonObject } from './json.ts'

/** A channel of an event. */
export interface EventChannelView {
  readonly channel: string
  /** It is sent only if a condition is true. */
  readonly isConditional: boolean
  /** Names of its fields. Empty: the event's data is sent. */
  readonly fields: readonly string[]
}

/** An event of the catalogue. */
export interface EventView {
  readonly eventType: string
  /** Kind of message that a recipient can unsubscribe from. */
  readonly category: string
  readonly route: Route
  /** With the route `first`: reports after which the next channel follows. */
  readonly fallbackOn?: readonly FallbackCause[]
  /** Preferences and quiet hours do not apply. */
  readonly critical: boolean
  /** Absent: `normal`. */
  readonly priority?: 'urgent'
  /** Milliseconds between acceptance and the first attempt. Absent: none. */
  readonly delayMs?: number
  /** Events of one key become one delivery. */
  readonly digest?: { readonly windowMs: number; readonly max: number }
  readonly channels: readonly EventChannelView[]
  /** Data with the members that its schema requires, each empty: a start for a dry run. Absent: the schema tells no members. */
  readonly skeleton?: JsonObject
}
