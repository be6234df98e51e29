import type { ConfigProblem } from '../errors.ts'
import type { Attempt } from '../model/dispatch.ts'
import type { Channel, OutboundMessage, SendContext, SendOutcome } from '../ports/channel.ts'
import type { Clock } from '../ports/clock.ts'
import { systemClock } from '../runtime/system-clock.ts'
import { refuseBadOptions } from './option-problems.ts'

/** Channels that send the same kind of message, the preferred one first. */
export type Providers = readonly [first: Channel, second: Channel, ...more: Channel[]]

interface Provider {
  readonly channel: Channel
  readonly name: string
  /** Epoch milliseconds. */
  coolingUntil: number
}

type NamedOutcome = SendOutcome & { readonly provider: string }

const COOL_DOWN_MS = 60_000

/** The channel behind `failover()`. */
export function failoverChannel(channels: Providers, clock: Clock = systemClock): Channel {
  refuseBadOptions('failover', problemsOf(channels))
  const [first] = channels
  const providers = channels.map((channel, index) => ({ channel, name: `${index + 1}`, coolingUntil: 0 }))

  async function send(message: OutboundMessage, context: SendContext): Promise<SendOutcome> {
    const { history, signal } = context
    let failure: SendOutcome = { outcome: 'retry', code: 'aborted' }
    let leastWait = Number.POSITIVE_INFINITY
    for (const provider of inTurn(providers, history, clock.now())) {
      if (signal.aborted) break
      const outcome = await ask(provider, message, context)
      if (outcome.outcome === 'sent') provider.coolingUntil = 0
      if (outcome.outcome !== 'retry') return outcome
      // What was called off says nothing against the provider.
      if (!signal.aborted) provider.coolingUntil = clock.now() + COOL_DOWN_MS
      const { code, retryAfterMs } = outcome
      if (retryAfterMs !== undefined && retryAfterMs < leastWait) leastWait = retryAfterMs
      const wait = leastWait < Number.POSITIVE_INFINITY && { retryAfterMs: leastWait }
      failure = { outcome: 'retry', code, provider: provider.name, ...wait }
    }
    return failure
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
    checkFields(fields) {
      const problems = channels
        .map((channel) => channel.checkFields?.(fields))
        .filter((problem) => problem !== undefined)
      return [...new Set(problems)].join('; ') || undefined
    },
  }
}

function problemsOf(channels: readonly Channel[]): ConfigProblem[] {
  const problems = channels.flatMap((channel, index) =>
    (['address', 'send'] as const)
      .filter((name) => typeof channel?.[name] !== 'function')
      .map((name) => ({ detail: `channel ${index + 1} has no ${name} function` })),
  )
  return channels.length < 2 ? [{ detail: 'needs at least two channels' }, ...problems] : problems
}

async function ask(
  { channel, name: provider }: Provider,
  message: OutboundMessage,
  context: SendContext,
): Promise<NamedOutcome> {
  const { signal } = context
  let onAbort = (): void => {}
  // The provider is named even if it takes no notice: it is the one to be asked next.
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
        // A channel that forgets to say so may well have sent it.
        return { outcome: 'unknown', code: 'channel_error', provider }
    }
  } catch {
    // It may have thrown because it was told to stop, in the middle of sending.
    if (signal.aborted) return { outcome: 'unknown', code: 'aborted', provider }
    return { outcome: 'retry', code: 'channel_error', provider }
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

/** All providers, in the order in which this attempt asks them. */
function inTurn(providers: readonly Provider[], history: readonly Attempt[], now: number): Provider[] {
  const start = startAfter(history, providers)
  const rank = (provider: Provider) =>
    provider === providers[start ?? -1] ? -1 : Math.max(provider.coolingUntil - now, 0)
  return providers.toSorted((a, b) => rank(a) - rank(b))
}

/**
 * The index of the provider that must be asked first, cooling down or not; `undefined`: any may be.
 *
 * That is the one that may have sent the message in the attempt before, as it can recognise the repeat; or the next one,
 * when the two attempts before went to it. An attempt that may have sent and names no provider is taken to have asked the
 * one that it had to begin with, or else the first; one that did not send and names none asked nobody.
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
