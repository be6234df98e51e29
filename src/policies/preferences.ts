import type { Recipient } from '../model/recipient.ts'
import { fn } from '../options/checks.ts'
import { readOptions, required } from '../options/read-options.ts'
import type { DeliveryPolicy } from '../ports/delivery-policy.ts'

/**
 * A recipient's preferences: `true` for yes, `false` for no. The most specific one counts: an event in a channel, then the event, then
 * the channel. All else is allowed. Must be a plain object without other properties.
 */
export interface PreferenceSet {
  /** By channel: `{ sms: false }` excludes text messages. */
  readonly channels?: Readonly<Record<string, boolean>>
  /**
   * By event, whole or by channel: `{ newsletter: false, 'order.shipped': { email: true, sms: false } }`. Unnamed channels: as in
   * `channels`.
   */
  readonly events?: Readonly<Record<string, boolean | Readonly<Record<string, boolean>>>>
}

/**
 * Skips unwanted messages as `opted_out`. Critical events pass without a call of `find`.
 *
 * It fails closed: it rethrows errors of `find`, and throws a `TypeError` that quotes no data for a result that is no
 * {@link PreferenceSet} (`null`, an instance of a class, a misspelt property). While planning, both are answered 503
 * `policy_unavailable`.
 * @param find Finds the preferences of a recipient of that tenant; `undefined`: everything is allowed. Called for each channel of an
 * event, and again before a deferred send.
 * @throws SallyportError `option_invalid`: `find` is not a function.
 */
export function preferences(
  find: (recipient: Recipient, tenant: string) => PreferenceSet | undefined | Promise<PreferenceSet | undefined>,
): DeliveryPolicy {
  readOptions('preferences', { find }, { find: required(fn) })

  return {
    async decide({ tenant, eventType, critical, channel, recipient }) {
      if (critical) return { verdict: 'send' }
      const found: unknown = await find(recipient, tenant)
      if (found === undefined) return { verdict: 'send' }
      if (!isPreferenceSet(found)) throw new TypeError('preferences: what was found is not a PreferenceSet')
      return wants(found, eventType, channel) ? { verdict: 'send' } : { verdict: 'skip', reason: 'opted_out' }
    },
  }
}

function wants({ channels = {}, events = {} }: PreferenceSet, eventType: string, channel: string): boolean {
  const event = own(events, eventType) ?? {}
  return typeof event === 'boolean' ? event : (own(event, channel) ?? own(channels, channel) ?? true)
}

/** Reads own properties only: an event may be called `constructor`. */
function own<Value>(values: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(values, key) ? values[key] : undefined
}

function isPreferenceSet(value: unknown): value is PreferenceSet {
  return (
    isPlain(value) &&
    Object.entries(value).every(([key, part]) => {
      if (key === 'channels') return part === undefined || isSwitches(part)
      if (key === 'events') return part === undefined || (isPlain(part) && Object.values(part).every(isSwitch))
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
