import type { DispatchRequest } from '../../../model/dispatch.ts'
import type { DispatchGrant } from '../../../model/principal.ts'
import type { Recipient } from '../../../model/recipient.ts'
import { nearNames } from '../../../model/suggestions.ts'
import type { Channel } from '../../../ports/channel.ts'
import type { DeliveryPolicy, Verdict } from '../../../ports/delivery-policy.ts'
import type { CatalogChannel, CatalogEvent, EventCatalog } from '../../../ports/event-catalog.ts'
import type { RecipientDirectory } from '../../../ports/recipient-directory.ts'
import { port } from '../../answers/fault.ts'
import { isRefused, type Refused, refuse } from '../../answers/result.ts'
import { invalid } from '../../validate.ts'
import type { EventFault } from '../event-faults.ts'
import { askPolicy } from './ask-policy.ts'
import { type Candidate, type EndedChannel, filterChannels } from './filter-channels.ts'
import { type Plan, planDispatch } from './plan-dispatch.ts'
import { resolveAddress } from './resolve-address.ts'
import { resolveRecipient } from './resolve-recipient.ts'

/** What planning asks. */
export interface PlanningDeps {
  /** By the names that the events use. */
  readonly channels: Readonly<Record<string, Channel>>
  readonly recipients?: RecipientDirectory
  /** Absent: everything may go out at once. */
  readonly policy?: DeliveryPolicy
  /** Plan and record everything, send nothing. Default: `false`. */
  readonly sandbox?: boolean
}

/** When planning happens, for whom, and for when. */
export interface PlanningScope {
  readonly tenant: string
  /** The session of the token that asks, where it is a session token. */
  readonly session: string | undefined
  /** What it grants. Other names are not told to it. */
  readonly grant?: DispatchGrant | undefined
  /** Epoch milliseconds. */
  readonly now: number
  /** Instead of the event's own delay. */
  readonly delayMs: number | undefined
}

/**
 * Everything that can be known before anything is stored.
 *
 * @param faults Takes what fails in host code.
 */
export async function planRequest(
  event: CatalogEvent,
  { recipient: recipientId, eventData = {}, channel }: DispatchRequest,
  scope: PlanningScope,
  { channels, recipients, policy, sandbox = false }: PlanningDeps,
  faults: EventFault[],
): Promise<Plan | Refused> {
  const entries = channel === undefined ? event.channels : overridden(event, channel, channels, scope.grant)
  if (isRefused(entries)) return entries
  const { tenant, now, delayMs = event.delayMs } = scope
  if (event.digest && delayMs > 0) return refuse('validation_failed', 'A digest has a window: it takes no delay.')
  const checking = event.checkData(eventData)
  const checked = 'then' in checking ? await checking : checking
  if (checked.outcome === 'invalid') {
    const { cause } = checked
    if (cause !== undefined) faults.push({ operation: 'data_schema', detail: 'the data schema threw', cause })
    return invalid(checked.issues)
  }
  const { eventType } = event
  const reaches = (bare: Recipient): boolean => isReached(bare, entries, channels, faults)
  const resolved = resolveRecipient(recipientId, tenant, recipients, reaches, { eventType })
  const recipient = 'then' in resolved ? await resolved : resolved
  if (isRefused(recipient)) return recipient
  const facts = { data: checked.data, recipient, events: [checked.data] }
  const filtered = filterChannels(event, entries, facts, channels, faults)
  const at = now + delayMs + (event.digest?.windowMs ?? 0)
  const verdicts = policy && (await verdictsOn(filtered, event, recipient, scope, at, policy))
  return planDispatch({ event, facts, filtered, now, delayMs, sandbox, faults, ...(verdicts && { verdicts }) })
}

/** Whether one of the channels reaches a recipient of whom only the id is known. */
function isReached(
  recipient: Recipient,
  entries: readonly CatalogChannel[],
  channels: PlanningDeps['channels'],
  faults: EventFault[],
): boolean {
  const found: EventFault[] = []
  for (const { channel } of entries) {
    const reach = resolveAddress(channels[channel], recipient)
    if (reach.outcome === 'reached') return true
    const detail = 'the channel threw, or gave no address'
    if (reach.outcome === 'error') found.push({ operation: 'channel', channel, detail, cause: reach.cause })
  }
  // When one does, all of them are asked again.
  faults.push(...found)
  return false
}

function overridden(
  event: CatalogEvent,
  channel: string,
  channels: PlanningDeps['channels'],
  grant: DispatchGrant | undefined,
): readonly CatalogChannel[] | Refused {
  const usable = granted(event.overrides, grant?.channels)
  if (!Object.hasOwn(channels, channel)) {
    const near = nearNames(channel, granted(Object.keys(channels), grant?.channels))
    return unknownName('channel_unknown', '/channel', 'channel', near, usable)
  }
  if (event.overrides.includes(channel)) return event.channels.filter((entry) => entry.channel === channel)
  const detail = usable.length > 0 ? sentThrough(usable) : 'The event cannot be sent through it.'
  return refuse('channel_not_allowed', detail, { errors: [{ pointer: '/channel', code: 'not_allowed', detail }] })
}

function verdictsOn(
  filtered: readonly (Candidate | EndedChannel)[],
  { eventType, critical }: CatalogEvent,
  recipient: Recipient,
  { tenant, session }: PlanningScope,
  at: number,
  policy: DeliveryPolicy,
): Promise<readonly (Verdict | undefined)[]> {
  const asker = session !== undefined && { sessionId: session }
  const ask = async ({ status, channel }: Candidate | EndedChannel): Promise<Verdict | undefined> =>
    status === 'candidate'
      ? askPolicy(policy, { tenant, eventType, critical, channel, recipient, at, ...asker })
      : undefined
  return port('policy_unavailable', () => Promise.all(filtered.map(ask)), { eventType })
}

function sentThrough(channels: readonly string[]): string {
  return `The event can be sent through ${channels.join(', ')}.`
}

/** Those of the names that a caller may know. */
function granted(names: readonly string[], grant: readonly string[] | undefined): readonly string[] {
  return grant ? names.filter((name) => grant.includes(name)) : names
}

/** The refusal of an event that the catalogue does not have, with those whose names are near, as far as the caller may know them. */
export function unknownEvent(eventType: string, events: EventCatalog, grant: DispatchGrant | undefined): Refused {
  const near = nearNames(eventType, granted(events.eventTypes, grant?.events))
  return unknownName('event_unknown', '/eventType', 'event', near)
}

function unknownName(
  code: 'event_unknown' | 'channel_unknown',
  pointer: string,
  what: string,
  near: readonly string[],
  usable: readonly string[] = [],
): Refused {
  const nearest = near.length > 0 ? [`Near: ${near.join(', ')}.`] : []
  const others = usable.length > 0 ? [sentThrough(usable)] : []
  const detail = [`No ${what} has this name.`, ...nearest, ...others].join(' ')
  return refuse(code, detail, { errors: [{ pointer, code: 'not_allowed', detail }] })
}
