import type { Attempt } from '../model/dispatch.ts'
import { has } from '../options/checks.ts'
import { checkArguments } from '../options/read-options.ts'
import type { Channel, OutboundMessage, SendContext, SendOutcome } from '../ports/channel.ts'
import type { Clock } from '../ports/clock.ts'
import { systemClock } from '../runtime/system-clock.ts'

/** Channels that send the same kind of message, the preferred one first. */
export type Providers = readonly [first: Channel, second: Channel, ...more: Channel[]]

interface Provider {
  readonly channel: Channel
  readonly name: string
  /** Until then other providers are asked first. Epoch milliseconds. */
  coolingUntil: number
}

type Failure = Extract<SendOutcome, { readonly outcome: 'retry' }>
type NamedOutcome = SendOutcome & { readonly provider: string }

const ALL_WAITING: Failure = { outcome: 'retry', code: 'provider_waiting' }

const COOL_DOWN_MS = 60_000

export function failoverChannel(channels: Providers, clock: Clock = systemClock): Channel {
  checkArguments(
    'failover',
    channels,
    has('a channel such as email(…), or an object { address(recipient), send(message) }', 'address', 'send'),
    2,
  )
  const [first] = channels
  const providers = channels.map((channel, index) => ({
    channel,
    name: `${index + 1}`,
    coolingUntil: 0,
  }))
  const waits = providerWaits()

  async function send(message: OutboundMessage, context: SendContext): Promise<SendOutcome> {
    const { deliveryId, history, signal } = context
    const { order, mustBegin } = askOrder(providers, history, clock.now())
    let soonest = Number.POSITIVE_INFINITY
    let failure: Failure | undefined
    for (const provider of order) {
      if (signal.aborted) return failure ?? { outcome: 'retry', code: 'aborted' }
      if (waits.until(deliveryId, provider.name) <= clock.now()) {
        const outcome = await ask(provider, message, context)
        if (outcome.outcome === 'sent') provider.coolingUntil = 0
        if (outcome.outcome === 'sent' || outcome.outcome === 'rejected') {
          waits.forget(deliveryId)
          return outcome
        }
        const askedMs = waitOf(outcome)
        if (askedMs > 0) waits.add(deliveryId, provider.name, clock.now() + askedMs)
        const cause = outcome.cause ?? failure?.cause
        if (outcome.outcome === 'unknown') return { ...outcome, ...(cause !== undefined && { cause }) }
        // An aborted send is no failure of the provider.
        if (!signal.aborted) provider.coolingUntil = clock.now() + COOL_DOWN_MS
        const { code } = outcome
        failure = { outcome: 'retry', code, provider: provider.name, ...(cause !== undefined && { cause }) }
      }
      soonest = Math.min(soonest, waits.until(deliveryId, provider.name))
      // It may have sent the message: no other provider is asked before it.
      if (!failure && provider === mustBegin) break
    }
    // Without a wait, the retry schedule decides.
    const retryAfterMs = soonest - clock.now()
    return { ...(failure ?? ALL_WAITING), ...(retryAfterMs > 0 && { retryAfterMs }) }
  }

  return {
    address(recipient) {
      for (const channel of channels) {
        const address = channel.address(recipient)
        if (address) return address
      }
      return undefined
    },
    send,
    ...(first.retrySchedule && { retrySchedule: first.retrySchedule }),
    ...(first.concurrencyKey && { concurrencyKey: first.concurrencyKey.bind(first) }),
    checkFields(fields, values) {
      return [...new Set(channels.flatMap((channel) => channel.checkFields?.(fields, values) ?? []))]
    },
  }
}

async function ask(
  { channel, name: provider }: Provider,
  message: OutboundMessage,
  context: SendContext,
): Promise<NamedOutcome> {
  const { signal } = context
  let onAbort = (): void => {}
  // Names the provider even if it ignores the signal: the next attempt begins with it.
  const aborted = new Promise<SendOutcome>((resolve) => {
    onAbort = () => resolve({ outcome: 'unknown', code: 'aborted' })
  })
  signal.addEventListener('abort', onAbort, { once: true })
  try {
    const outcome = await Promise.race([channel.send(message, context), aborted])
    switch (outcome?.outcome) {
      case 'sent':
      case 'retry':
      case 'unknown':
      case 'rejected':
        return { ...outcome, provider }
      default:
        // A channel that returns no outcome may have sent the message.
        return {
          outcome: 'unknown',
          code: 'channel_error',
          provider,
          cause: new TypeError('the channel gave no outcome'),
        }
    }
  } catch (cause) {
    // The abort may have caused the error in the middle of sending.
    if (signal.aborted) return { outcome: 'unknown', code: 'aborted', provider }
    return { outcome: 'retry', code: 'channel_error', provider, cause }
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function waitOf({ retryAfterMs }: { readonly retryAfterMs?: unknown }): number {
  return typeof retryAfterMs === 'number' && retryAfterMs > 0 ? retryAfterMs : 0
}

interface AskOrder {
  readonly order: readonly Provider[]
  /** The first of them, if it may have sent the message. */
  readonly mustBegin: Provider | undefined
}

function askOrder(providers: readonly Provider[], history: readonly Attempt[], now: number): AskOrder {
  const mustBegin = providers[startAfter(history, providers) ?? -1]
  const rank = (provider: Provider) => (provider === mustBegin ? -1 : Math.max(provider.coolingUntil - now, 0))
  return { order: providers.toSorted((a, b) => rank(a) - rank(b)), mustBegin }
}

/**
 * Index of the provider that must be asked first, even during its cool-down; `undefined` if any may be. It may have sent the message in
 * the previous attempt and can recognise the repeat; after two such attempts it is the next provider. Such an attempt without a named
 * provider counts as one of the required first provider, or of the first.
 */
function startAfter(history: readonly Attempt[], providers: readonly Provider[]): number | undefined {
  let start: number | undefined
  let previous: number | undefined
  for (const { outcome, provider } of history) {
    if (outcome === 'unknown' || outcome === undefined) {
      const named = providers.findIndex(({ name }) => name === provider)
      const asked: number = named >= 0 ? named : (start ?? 0)
      start = asked === previous ? (asked + 1) % providers.length : asked
      previous = asked
    } else if (provider !== undefined) {
      start = undefined
      previous = undefined
    }
  }
  return start
}

/** Waits that providers requested, per delivery. Epoch milliseconds. */
interface ProviderWaits {
  until(deliveryId: string, provider: string): number
  add(deliveryId: string, provider: string, until: number): void
  forget(deliveryId: string): void
}

/** Maximum of deliveries with waits; drops the least recently changed one. */
const MAX_DELIVERIES = 10_000

function providerWaits(): ProviderWaits {
  const byDelivery = new Map<string, Map<string, number>>()
  return {
    until: (deliveryId, provider) => byDelivery.get(deliveryId)?.get(provider) ?? 0,
    add(deliveryId, provider, until) {
      const waits = byDelivery.get(deliveryId) ?? new Map<string, number>()
      byDelivery.delete(deliveryId)
      byDelivery.set(deliveryId, waits.set(provider, until))
      const [oldest] = byDelivery.keys()
      if (byDelivery.size > MAX_DELIVERIES && oldest !== undefined) byDelivery.delete(oldest)
    },
    forget: (deliveryId) => void byDelivery.delete(deliveryId),
  }
}
