import { sha256 } from '../model/sha256.ts'
import { fn, names, whole } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { DeliveryPolicy, PolicyQuestion } from '../ports/delivery-policy.ts'

const MAX_WINDOW_MS = 31 * 24 * 60 * 60 * 1000
const MAX_KEY_LENGTH = 512

/** How much `throttle` lets through, and what it counts together. */
export interface ThrottleOptions {
  /** At most so many messages, 1 to 1,000, … */
  readonly max: number
  /** … in any span of so many milliseconds, 1 to 2,678,400,000 (31 days). */
  readonly windowMs: number
  /**
   * Messages of one tenant with the same key, 1 to 512 characters, are counted together; with `undefined` they are not
   * throttled. Any other key makes the policy throw a `TypeError`. Must give the same key for the same question.
   * Default: one event in one channel to one recipient.
   */
  readonly key?: (question: PolicyQuestion) => string | undefined
  /** Only messages in these channels are counted, and held to the limit. Default: all. */
  readonly channels?: readonly string[]
  /** Only messages of these events are counted, and held to the limit. Default: all. */
  readonly events?: readonly string[]
}

const CHECKS: Checks<ThrottleOptions> = {
  max: required(whole(1, 1_000)),
  windowMs: required(whole(1, MAX_WINDOW_MS)),
  key: fn,
  channels: names,
  events: names,
}

/**
 * Lets only so many messages through in a time: those above `max` in any `windowMs` are skipped, as `throttled`, and not put
 * off. Critical events are throttled too: they pass by preferences and quiet hours, not by this.
 *
 * The store counts, for all processes together, and what is counted is a message that was accepted for sending: with a delay
 * or quiet hours, what was accepted over hours may go out at once. Each throttle
 * counts by itself, even where its keys are those of another, unless all of `max`, `windowMs`, `channels` and `events` are
 * equal too; to change one of them starts counting anew. What the store gets to see of a key is its SHA-256.
 *
 * @throws SallyportError `option_invalid`, with all that is wrong with the options.
 */
export function throttle(options: ThrottleOptions): DeliveryPolicy {
  const { max, windowMs, key: hostKey, ...narrow } = readOptions('throttle', options, CHECKS)
  const channels = narrow.channels && [...narrow.channels]
  const events = narrow.events && [...narrow.events]

  return {
    names: { channels: channels ?? [], events: events ?? [] },
    async decide(question) {
      const { eventType, channel, recipient } = question
      if (channels?.includes(channel) === false || events?.includes(eventType) === false) return { verdict: 'send' }
      const counted = hostKey ? checkedKey(hostKey(question)) : [eventType, channel, recipient.id]
      if (counted === undefined) return { verdict: 'send' }
      const key = await sha256(JSON.stringify([max, windowMs, channels, events, counted]))
      return { verdict: 'send', limits: [{ key, max, windowMs }] }
    },
  }
}

function checkedKey(key: unknown): string | undefined {
  if (key === undefined) return undefined
  if (typeof key === 'string' && key.length >= 1 && key.length <= MAX_KEY_LENGTH) return key
  throw new TypeError(`throttle: a key must be a string of 1 to ${MAX_KEY_LENGTH} characters, or undefined`)
}
