import type { ConditionTrace, DeliveryReason } from '../../../model/dispatch.ts'
import type { Channel } from '../../../ports/channel.ts'
import type { Decision } from '../../../ports/condition-engine.ts'
import type { CatalogChannel, CatalogEvent, EventFacts } from '../../../ports/event-catalog.ts'
import type { EventFault } from '../event-faults.ts'
import { resolveAddress } from './resolve-address.ts'

/** A channel whose end is known before anything is rendered. */
export type EndedChannel = { readonly channel: string } & (
  | { readonly status: 'skipped'; readonly reason: DeliveryReason; readonly trace?: readonly ConditionTrace[] }
  /** `detail`: what went wrong, for the log and for dry runs. It holds no value of the facts. */
  | { readonly status: 'failed'; readonly reason: DeliveryReason; readonly detail: string }
)

/** A channel that its conditions let send, and on which the recipient is reached. */
export interface Candidate {
  readonly status: 'candidate'
  readonly channel: string
  readonly fields: CatalogChannel['fields']
  readonly address: string
  readonly concurrencyKey?: string
}

/**
 * Holds the given channels of an event against its conditions, their own, and where the recipient is reached. Pure.
 *
 * @param faults Takes what fails in host code.
 */
export function filterChannels(
  { when }: CatalogEvent,
  entries: readonly CatalogChannel[],
  facts: EventFacts,
  channels: Readonly<Record<string, Channel>>,
  faults: EventFault[],
): readonly (Candidate | EndedChannel)[] {
  const gate = when?.(facts)
  if (gate?.outcome === 'error') faults.push({ operation: 'condition', ...errorOf(gate) })
  return entries.map((entry) => screen(entry, gate, facts, channels, faults))
}

function screen(
  { channel, when, fields }: CatalogChannel,
  gate: Decision | undefined,
  facts: EventFacts,
  channels: Readonly<Record<string, Channel>>,
  faults: EventFault[],
): Candidate | EndedChannel {
  const decision = gate === undefined || gate.outcome === 'true' ? when?.(facts) : gate
  if (decision?.outcome === 'false') {
    return { channel, status: 'skipped', reason: 'condition_false', trace: decision.trace }
  }
  if (decision?.outcome === 'error') {
    if (decision !== gate) faults.push({ operation: 'condition', channel, ...errorOf(decision) })
    return { channel, status: 'failed', reason: 'condition_error', detail: decision.detail }
  }
  const reach = resolveAddress(channels[channel], facts.recipient)
  if (reach.outcome === 'error') {
    const detail = 'the channel threw, or gave no address'
    faults.push({ operation: 'channel', channel, detail, cause: reach.cause })
    return { channel, status: 'failed', reason: 'channel_error', detail }
  }
  if (reach.outcome === 'none') return { channel, status: 'skipped', reason: 'no_address' }
  const { address, concurrencyKey } = reach
  return { status: 'candidate', channel, fields, address, ...(concurrencyKey !== undefined && { concurrencyKey }) }
}

function errorOf({
  detail,
  cause,
  isLibrary,
}: Extract<Decision, { outcome: 'error' }>): Pick<EventFault, 'detail' | 'cause' | 'isLibrary'> {
  return { detail, cause, isLibrary }
}
