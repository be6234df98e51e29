/**
 * Several providers as one channel.
 *
 * @module sallyport/channels/failover
 */
import type { Channel } from '../ports/channel.ts'
import { failoverChannel, type Providers } from './failover-channel.ts'

export type { Providers }

/**
 * Sends through the first of several providers that takes the message: `failover(email(ses, …), email(postmark, …))`.
 *
 * Within one attempt the providers are asked in turn for as long as they certainly did not send (`retry`, or a throw,
 * which is `retry` with `channel_error`). `sent` and `rejected` are final, and after `unknown` nobody else is asked: it
 * may have been sent. An abort while a provider is sending is at once `unknown` from it, with `aborted`. If all give `retry`, so does the
 * attempt, with the last code, and with the shortest wait if each asked for one. They share the time of the attempt: give each
 * connection time-outs that leave some for the next.
 *
 * **After `unknown` the next attempt begins with the same provider**, which can recognise the delivery id; after two
 * in a row with the one after it. An attempt that names no provider, because its worker died or its lease ran out,
 * counts as `unknown` from the one that it had to begin with, or the first. A result that is none of
 * the four counts as `unknown`, with `channel_error`. No order can rule out a repeat by another provider when the one
 * that took the message cannot be reached.
 *
 * A provider that did not send cools down for 60 seconds, or until it next does, and is asked after those that are not
 * cooling down. It is never left out: if all are, the one whose cool-down ends first goes first. One that asked for a
 * wait (`retryAfterMs`) is not asked about the same delivery before it is over; if no provider is left, the attempt is `retry` with
 * `provider_waiting`. Cool-downs and waits are kept in memory, per process.
 *
 * Each outcome names its `provider` by position: `1`, `2`, …; so append new ones, and do not put one `failover()` into
 * another. `retrySchedule` and `concurrencyKey` are those of the first, `address` of the first that gives one, and
 * fields must suit all.
 *
 * @throws SallyportError `option_invalid`, when there are fewer than two channels or one has no `address` or `send`.
 */
export function failover(...channels: Providers): Channel {
  return failoverChannel(channels)
}
