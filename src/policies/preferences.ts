import type { Recipient } from '../model/recipient.ts'
import { fn } from '../options/checks.ts'
import { readOptions, required } from '../options/read-options.ts'
import type { DeliveryPolicy } from '../ports/delivery-policy.ts'

/**
 * What someone wants to get: `true` for yes, `false` for no. The most specific word counts: that on an event in a channel,
 * then that on the event, then that on the channel. What nothing is said about is allowed.
 *
 * A plain object with these two properties and no others, or with fewer: what JSON gives.
 */
export interface PreferenceSet {
  /** By channel: `{ sms: false }` is no text messages. */
  readonly channels?: Readonly<Record<string, boolean>>
  /**
   * By event, as a whole or by channel: `{ newsletter: false, 'order.shipped': { email: true, sms: false } }`. A channel that an
   * event does not name is as `channels` has it.
   */
  readonly events?: Readonly<Record<string, boolean | Readonly<Record<string, boolean>>>>
}

/**
 * Skips what the recipient does not want, as `opted_out`. Critical events pass, without `find` being asked.
 *
 * It never guesses in favour of sending. When `find` throws, so does this. When it gives anything but a {@link PreferenceSet},
 * `null`, an instance of a class or a misspelt property included, a `TypeError` is thrown that holds nothing of it. While
 * planning, both are answered 503 `policy_unavailable`.
 *
 * @param find Finds what a recipient of that tenant wants; `undefined` when they never said: everything is allowed. It is
 * asked for every channel of an event, and again before a send that was put off.
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

/** An event may be called `constructor`: what every object inherits is nobody's word. */
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

/** What holds all it has as its own, readable properties; a `Map` or a row of a database library might look empty. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
