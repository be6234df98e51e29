/**
 * Several providers as one channel.
 * @module sallyport/channels/failover
 */
import type { Channel } from '../ports/channel.ts'
import { failoverChannel } from './failover-channel.ts'
import type { NamedProviders, Providers } from './failover-providers.ts'

export type { NamedProviders, Providers }

/**
 * Sends through the first of several providers that accepts the message.
 *
 * One attempt asks the providers in turn while they certainly did not send (`retry`; an error counts as `retry` with `channel_error`).
 * `sent` and `rejected` are final. After `unknown` no other provider is asked, because the message may have been sent; an abort during a
 * send is `unknown` with `aborted` at once, and a result that is no outcome is `unknown` with `outcome_invalid`, after which nothing is sent again. If all return `retry`, the
 * attempt is `retry` with the last code, and with the shortest wait if each requested one. Providers share the time of the attempt: set
 * connection time-outs that leave time for the next.
 *
 * **After `unknown` the next attempt begins with the same provider**, which can recognise the delivery id; after two in a row, with the
 * next one. An attempt that names no provider (its worker died or its lease expired) counts as `unknown` from its required first
 * provider, or from the first. No order can exclude a repeat by another provider if the one that accepted the message is unreachable.
 *
 * A provider that did not send cools down for 60 seconds or until it next sends. Meanwhile it is asked after the others, in the order in
 * which cool-downs end. A provider that requested a wait (`retryAfterMs`) is not asked about the same delivery before the wait ends; if
 * no provider is left, the attempt is `retry` with `provider_waiting`. Cool-downs and waits are kept in memory, per process.
 *
 * Each outcome names its `provider`, and lists the `providers` of the attempt: first the preferred ones that were passed over
 * (`cooling_down`), then those that were asked, each with the code of its failure. Attempts record both. The worker logs
 * `provider.failed` for each provider that did not send while the attempt continued with another.
 *
 * `retrySchedule` and `concurrencyKey` come from the first provider, `address` from the first that has one. Fields must be valid for all.
 * @param providers 2-16 channels, the preferred one first. Keep the names of providers: an attempt after `unknown` finds its provider by
 * name.
 * @example
 * ```ts
 * const mail = failover({ ses: email(ses, { from }), postmark: email(postmark, { from }) })
 * ```
 * @throws SallyportError `option_invalid`, with all problems: a number of providers that is not 2-16, a name that is a number or not 1-64
 * visible ASCII characters, a channel that lacks `address` or `send`, is given twice, or is a failover itself.
 */
export function failover(providers: NamedProviders): Channel
/**
 * The same with the names `1`, `2`, … by position: append new providers.
 * @throws SallyportError `option_invalid`, as above.
 */
export function failover(...channels: Providers): Channel
export function failover(...given: Providers | readonly [NamedProviders]): Channel {
  return failoverChannel(given)
}
