import { sha256 } from '../model/sha256.ts'
import { fn, names, whole } from '../options/checks.ts'
import { type Checks, readOptions, required } from '../options/read-options.ts'
import type { DeliveryPolicy, PolicyQuestion } from '../ports/delivery-policy.ts'

const MAX_WINDOW_MS = 31 * 24 * 60 * 60 * 1000
const MAX_KEY_LENGTH = 512

/** Options of {@link throttle}. */
export interface ThrottleOptions {
  /** Maximum messages in any window, 1 to 1,000. */
  readonly max: number
  /** Length of the sliding window in milliseconds, 1 to 2,678,400,000 (31 days). */
  readonly windowMs: number
  /**
   * Messages of one tenant with the same key, 1 to 512 characters, count together; `undefined`: not throttled. Any other key throws a
   * `TypeError`. Must return the same key for the same question. Default: one event in one channel to one recipient; what session
   * tokens cause counts apart for each session, so that an agent cannot use up what others need.
   */
  readonly key?: (question: PolicyQuestion) => string | undefined
  /** Counts and limits only messages in these channels. Default: all. */
  readonly channels?: readonly string[]
  /** Counts and limits only messages of these events. Default: all. */
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
 * Limits the rate of messages: those above `max` in any `windowMs` are skipped as `throttled`, not deferred. Critical events are
 * throttled too: they bypass only preferences and quiet hours.
 *
 * The store counts for all processes, and at acceptance: with a delay or quiet hours, messages accepted over hours may be sent at once.
 * Each throttle counts separately, also with the same keys, unless `max`, `windowMs`, `channels` and `events` are equal too; changing one
 * of them starts a new count. The store gets only the SHA-256 of a key.
 * @throws SallyportError `option_invalid`, with all problems of the options.
 */
export function throttle(options: ThrottleOptions): DeliveryPolicy {
  const { max, windowMs, key: hostKey, ...narrow } = readOptions('throttle', options, CHECKS)
  const channels = narrow.channels && [...narrow.channels]
  const events = narrow.events && [...narrow.events]

  return {
    names: { channels: channels ?? [], events: events ?? [] },
    async decide(question) {
      const { eventType, channel, recipient, sessionId } = question
      if (channels?.includes(channel) === false || events?.includes(eventType) === false) return { verdict: 'send' }
      const counted = hostKey
        ? checkedKey(hostKey(question))
        : [eventType, channel, recipient.id, ...(sessionId === undefined ? [] : [sessionId])]
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
