/**
 * A recipient's preferences: `true` for yes, `false` for no. The most specific one counts: an event in a channel, then the event, then its
 * category in a channel, then the category, then the channel. All else is allowed. Must be a plain object without other properties.
 */
export interface PreferenceSet {
  /** By channel: `{ sms: false }` excludes text messages. */
  readonly channels?: Readonly<Record<string, boolean>>
  /** By category of events, whole or by channel: `{ marketing: false, billing: { email: true, sms: false } }`. */
  readonly categories?: Readonly<Record<string, boolean | Readonly<Record<string, boolean>>>>
  /**
   * By event, whole or by channel: `{ newsletter: false, 'order.shipped': { email: true, sms: false } }`. Unnamed channels: as in
   * `categories`, then `channels`.
   */
  readonly events?: Readonly<Record<string, boolean | Readonly<Record<string, boolean>>>>
}

/** A message that a recipient may want. */
interface Wanted {
  readonly eventType: string
  readonly category: string
  readonly channel: string
}

export function wants(
  { channels = {}, categories = {}, events = {} }: PreferenceSet,
  { eventType, category, channel }: Wanted,
): boolean {
  return (
    choiceOf(own(events, eventType), channel) ??
    choiceOf(own(categories, category), channel) ??
    own(channels, channel) ??
    true
  )
}

function choiceOf(
  given: boolean | Readonly<Record<string, boolean>> | undefined,
  channel: string,
): boolean | undefined {
  return typeof given === 'object' ? own(given, channel) : given
}

/** Reads own properties only: an event may be called `constructor`. */
function own<Value>(values: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(values, key) ? values[key] : undefined
}

export function isPreferenceSet(value: unknown): value is PreferenceSet {
  return (
    isPlain(value) &&
    Object.entries(value).every(([key, part]) => {
      if (key === 'channels') return part === undefined || isSwitches(part)
      if (key === 'events' || key === 'categories') {
        return part === undefined || (isPlain(part) && Object.values(part).every(isSwitch))
      }
      return false
    })
  )
}

function isSwitch(value: unknown): boolean {
  return typeof value === 'boolean' || isSwitches(value)
}

function isSwitches(value: unknown): boolean {
  return isPlain(value) && Object.values(value).every((each) => typeof each === 'boolean')
}

/** Refuses other objects: a `Map` or a database row might look empty. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
