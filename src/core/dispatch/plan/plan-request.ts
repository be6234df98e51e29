import { isPromise } from '../../../model/awaitable.ts'
import type { DispatchRequest } from '../../../model/dispatch.ts'
import type { DispatchGrant } from '../../../model/principal.ts'
import type { Recipient } from '../../../model/recipient.ts'
import { nearNames } from '../../../model/suggestions.ts'
import type { Channel } from '../../../ports/channel.ts'
import type { DeliveryPolicy, Verdict } from '../../../ports/delivery-policy.ts'
import type { CatalogChannel, CatalogEvent, EventCatalog } from '../../../ports/event-catalog.ts'
import type { LinkMakers } from '../../../ports/link-maker.ts'
import type { Logger } from '../../../ports/logger.ts'
import type { MessageGuard } from '../../../ports/message-guard.ts'
import type { RecipientDirectory } from '../../../ports/recipient-directory.ts'
import { type EventFault, port } from '../../answers/fault.ts'
import { isRefused, type Refused, refuse } from '../../answers/result.ts'
import { placeholdersOf } from '../../links/fill-links.ts'
import { askGuard } from '../../message/ask-guard.ts'
import { askPolicy } from '../../message/ask-policy.ts'
import { checkEventData } from '../../message/check-data.ts'
import type { RenderClock } from '../../message/render-fields.ts'
import { resolveAddress, resolveRecipient } from '../../message/resolve-recipient.ts'
import { logUnknownTimeZone } from '../../message/unknown-time-zone.ts'
import { invalid } from '../../validate.ts'
import { authoriseCopies } from '../authorise-dispatch.ts'
import type { Caller } from '../caller.ts'
import {
  type Candidate,
  channelFault,
  type EndedChannel,
  filterChannels,
  type Plan,
  planDispatch,
} from './plan-dispatch.ts'

/** Dependencies of planning. */
export interface PlanningDeps {
  /** By the channel names of the events. */
  readonly channels: Readonly<Record<string, Channel>>
  readonly recipients?: RecipientDirectory
  /** Absent: every delivery may be sent at once. */
  readonly policy?: DeliveryPolicy
  /** Objects to addresses. Absent: every address may be sent to. */
  readonly guard?: MessageGuard | undefined
  /** Plans and records everything, sends nothing. Default: `false`. */
  readonly sandbox?: boolean
  /** Absent: facts have no `links`. */
  readonly links?: LinkMakers | undefined
  /** Names of the guards and links of plugins: a worker without one of them does not send. Default: none. */
  readonly protection?: readonly string[] | undefined
}

/** Caller and time of a plan. */
export interface PlanningScope extends Pick<Caller, 'tenant' | 'session'> {
  /** Grant of a session token. Error messages contain only names that it grants. */
  readonly grant?: DispatchGrant | undefined
  readonly now: number
  readonly delayMs: number | undefined
}

/**
 * Plans a request: checks its data, resolves the recipient, calls the policy for each channel, renders. Stores nothing.
 *
 * @param faults Receives errors of host code.
 */
export async function planRequest(
  event: CatalogEvent,
  { recipient: recipientId, eventData = {}, channel }: DispatchRequest,
  scope: PlanningScope,
  deps: PlanningDeps & { readonly clock: RenderClock; readonly logger: Logger },
  faults: EventFault[],
): Promise<Plan | Refused> {
  const { channels, recipients, policy, guard, sandbox = false, links, clock, logger } = deps
  const entries = channel === undefined ? event.channels : overridden(event, channel, channels, scope.grant)
  if (isRefused(entries)) return entries
  const { tenant, now, delayMs = event.delayMs } = scope
  if (event.digest && delayMs > 0) return refuse('validation_failed', 'A digest has a window: it takes no delay.')
  const checking = checkEventData(event, eventData, clock)
  const checked = isPromise(checking) ? await checking : checking
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
  if (policy) logUnknownTimeZone(recipient, logger, eventType)
  const known = { data: checked.data, recipient, events: [checked.data] }
  const facts = links ? { ...known, links: placeholdersOf(links) } : known
  const reached = filterChannels(event, entries, facts, channels, faults)
  const filtered = guard ? await guarded(reached, event, { tenant, recipient: recipientId }, guard) : reached
  const at = now + delayMs + (event.digest?.windowMs ?? 0)
  const verdicts = policy && (await verdictsOn(filtered, event, recipient, scope, at, policy))
  const { grant } = scope
  const checkCopies = grant && ((copies: readonly string[]) => authoriseCopies(copies, grant))
  return planDispatch({
    event,
    facts,
    filtered,
    now,
    delayMs,
    sandbox,
    channels,
    checkCopies,
    clock,
    faults,
    verdicts,
  })
}

/** Skips the channels to whose address the guard objects. */
function guarded(
  filtered: readonly (Candidate | EndedChannel)[],
  { eventType, category, critical }: CatalogEvent,
  to: { readonly tenant: string; readonly recipient: string },
  guard: MessageGuard,
): Promise<readonly (Candidate | EndedChannel)[]> {
  const check = async (one: Candidate | EndedChannel): Promise<Candidate | EndedChannel> => {
    if (one.status !== 'candidate') return one
    const { channel, address } = one
    const reason = await askGuard(guard, { ...to, eventType, category, critical, channel, address })
    if (reason === undefined) return one
    return { channel, status: 'skipped', reason, ...(reason === 'suppressed' && { address }) }
  }
  return port('guard_unavailable', () => Promise.all(filtered.map(check)), { eventType })
}

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
    if (reach.outcome === 'error') found.push(channelFault(channel, reach.cause))
  }
  // If a channel reaches it, all channels are called again, which reports these faults.
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
  { eventType, category, critical }: CatalogEvent,
  recipient: Recipient,
  { tenant, session }: PlanningScope,
  at: number,
  policy: DeliveryPolicy,
): Promise<readonly (Verdict | undefined)[]> {
  const asked = {
    tenant,
    eventType,
    category,
    critical,
    recipient,
    at,
    ...(session !== undefined && { sessionId: session }),
  }
  const ask = async ({ status, channel }: Candidate | EndedChannel): Promise<Verdict | undefined> =>
    status === 'candidate' ? askPolicy(policy, { ...asked, channel }) : undefined
  return port('policy_unavailable', () => Promise.all(filtered.map(ask)), { eventType })
}

function sentThrough(channels: readonly string[]): string {
  return `The event can be sent through ${channels.join(', ')}.`
}

function granted(names: readonly string[], grant: readonly string[] | undefined): readonly string[] {
  return grant ? names.filter((name) => grant.includes(name)) : names
}

/** Refuses an unknown event, with suggestions among the names of the grant. */
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
