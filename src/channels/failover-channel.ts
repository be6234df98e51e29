import type { Attempt, ProviderEnd } from '../model/attempt.ts'
import { isOutcome, noOutcome, OUTCOME_INVALID } from '../options/send-outcome.ts'
import type { Channel, OutboundMessage, SendContext, SendOutcome } from '../ports/channel.ts'
import type { Clock } from '../ports/clock.ts'
import { systemClock } from '../runtime/system-clock.ts'
import {
  markFailover,
  type NamedChannel,
  type NamedProviders,
  type Providers,
  readProviders,
} from './failover-providers.ts'

interface Provider extends NamedChannel {
  /** Until then other providers are asked first. Epoch milliseconds. */
  coolingUntil: number
}

type Failure = Extract<SendOutcome, { readonly outcome: 'retry' }>
type NamedOutcome = SendOutcome & { readonly provider: string }

const ALL_WAITING: Failure = { outcome: 'retry', code: 'provider_waiting' }

const COOL_DOWN_MS = 60_000

export function failoverChannel(given: Providers | readonly [NamedProviders], clock: Clock = systemClock): Channel {
  const named = readProviders(given)
  const channels = named.map(({ channel }) => channel)
  const first = channels[0]
  const providers = named.map((one): Provider => ({ ...one, coolingUntil: 0 }))
  const waits = providerWaits()

  async function send(message: OutboundMessage, context: SendContext): Promise<SendOutcome> {
    const cooling = providers.filter(({ coolingUntil }) => coolingUntil > clock.now())
    const asked: ProviderEnd[] = []
    const outcome = await askInTurn(message, context, asked)
    const ends = [...passedOver(cooling, asked), ...asked]
    return ends.length > 0 ? { ...outcome, providers: ends } : outcome
  }

  /** Preferred providers that were not asked because they cool down. */
  function passedOver(cooling: readonly Provider[], asked: readonly ProviderEnd[]): readonly ProviderEnd[] {
    const last = providers.findIndex(({ name }) => name === asked.at(-1)?.name)
    const preferred = new Set(providers.slice(0, Math.max(last, 0)))
    return cooling
      .filter((provider) => preferred.has(provider) && !asked.some(({ name }) => name === provider.name))
      .map(({ name }) => ({ name, code: 'cooling_down' }))
  }

  /** @param asked Receives each provider and why it did not send. */
  async function askInTurn(message: OutboundMessage, context: SendContext, asked: ProviderEnd[]): Promise<SendOutcome> {
    const { deliveryId, history, signal } = context
    const { order, mustBegin } = askOrder(providers, history, clock.now())
    let soonest = Number.POSITIVE_INFINITY
    let failure: Failure | undefined
    for (const provider of order) {
      if (signal.aborted) return failure ?? { outcome: 'retry', code: 'aborted' }
      if (waits.until(deliveryId, provider.name) <= clock.now()) {
        const outcome = await ask(provider, message, context)
        asked.push(outcome.outcome === 'sent' ? { name: provider.name } : { name: provider.name, code: outcome.code })
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
      } else asked.push({ name: provider.name, code: 'provider_waiting' })
      soonest = Math.min(soonest, waits.until(deliveryId, provider.name))
      // It may have sent the message: no other provider is asked before it.
      if (!failure && provider === mustBegin) break
    }
    // Without a wait, the retry schedule decides.
    const retryAfterMs = soonest - clock.now()
    return { ...(failure ?? ALL_WAITING), ...(retryAfterMs > 0 && { retryAfterMs }) }
  }

  return markFailover({
    address(recipient) {
      for (const channel of channels) {
        const address = channel.address(recipient)
        if (address) return address
      }
      return undefined
    },
    send,
    copies: (content) => channels.flatMap((channel) => channel.copies?.(content) ?? []),
    ...(first?.retrySchedule && { retrySchedule: first.retrySchedule }),
    ...(first?.concurrencyKey && { concurrencyKey: first.concurrencyKey.bind(first) }),
    checkFields(fields, values) {
      return [...new Set(channels.flatMap((channel) => channel.checkFields?.(fields, values) ?? []))]
    },
  })
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
    const outcome: unknown = await Promise.race([channel.send(message, context), aborted])
    return readOutcome(outcome, provider)
  } catch (cause) {
    // The abort may have caused the error in the middle of sending.
    if (signal.aborted) return { outcome: 'unknown', code: 'aborted', provider }
    return { outcome: 'retry', code: 'channel_error', provider, cause }
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** A provider without a readable outcome may have sent the message. */
function readOutcome(given: unknown, provider: string): NamedOutcome {
  try {
    if (isOutcome(given)) return { ...(given as SendOutcome), provider }
  } catch {
    // A member threw when it was read.
  }
  return { outcome: 'unknown', code: OUTCOME_INVALID, provider, cause: noOutcome(given) }
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
