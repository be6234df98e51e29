import type { DispatchRequest } from '../../model/dispatch.ts'
import type { Recipient } from '../../model/recipient.ts'
import type { Channel } from '../../ports/channel.ts'
import type { DeliveryPolicy, Verdict } from '../../ports/delivery-policy.ts'
import type { CatalogChannel, CatalogEvent, EventCatalog } from '../../ports/event-catalog.ts'
import type { RecipientDirectory } from '../../ports/recipient-directory.ts'
import { port } from '../fault.ts'
import { nearNames } from '../near-names.ts'
import { isRefused, type Refused, refuse } from '../result.ts'
import { invalid } from '../validate.ts'
import { askPolicy } from './ask-policy.ts'
import { type Plan, planDispatch } from './plan-dispatch.ts'
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
  /** Epoch milliseconds. */
  readonly now: number
  /** Instead of the event's own delay. */
  readonly delayMs: number | undefined
}

/** Everything that can be known before anything is stored. */
export async function planRequest(
  event: CatalogEvent,
  { recipient: recipientId, eventData = {}, channel }: DispatchRequest,
  { tenant, now, delayMs = event.delayMs }: PlanningScope,
  { channels, recipients, policy, sandbox = false }: PlanningDeps,
): Promise<Plan | Refused> {
  const entries = channel === undefined ? event.channels : overridden(event, channel, channels)
  if (isRefused(entries)) return entries
  const checking = event.checkData(eventData)
  const checked = 'then' in checking ? await checking : checking
  if (checked.outcome === 'invalid') return invalid(checked.issues)
  const reachable = entries.flatMap((entry) => channels[entry.channel] ?? [])
  const resolved = resolveRecipient(recipientId, tenant, recipients, reachable)
  const recipient = 'then' in resolved ? await resolved : resolved
  if (isRefused(recipient)) return recipient
  const at = now + delayMs + (event.digest?.windowMs ?? 0)
  const verdicts = policy && (await verdictsOn(entries, event, recipient, tenant, at, policy))
  const facts = { data: checked.data, recipient, events: [checked.data] }
  return planDispatch({ event, entries, facts, channels, now, delayMs, sandbox, ...(verdicts && { verdicts }) })
}

function overridden(
  event: CatalogEvent,
  channel: string,
  channels: PlanningDeps['channels'],
): readonly CatalogChannel[] | Refused {
  if (!Object.hasOwn(channels, channel)) {
    return unknownName('channel_unknown', '/channel', 'channel', nearNames(channel, Object.keys(channels)))
  }
  if (event.overrides.includes(channel)) return event.channels.filter((entry) => entry.channel === channel)
  const detail = `The event can be sent through ${event.overrides.join(', ')}.`
  return refuse('channel_not_allowed', detail, { errors: [{ pointer: '/channel', code: 'not_allowed', detail }] })
}

function verdictsOn(
  entries: readonly CatalogChannel[],
  { eventType, critical }: CatalogEvent,
  recipient: Recipient,
  tenant: string,
  at: number,
  policy: DeliveryPolicy,
): Promise<readonly Verdict[]> {
  const ask = ({ channel }: CatalogChannel): Promise<Verdict> =>
    askPolicy(policy, { tenant, eventType, critical, channel, recipient, at })
  return port('policy_unavailable', () => Promise.all(entries.map(ask)))
}

/** The refusal of an event that the catalogue does not have, with those whose names are near. */
export function unknownEvent(eventType: string, events: EventCatalog): Refused {
  return unknownName('event_unknown', '/eventType', 'event', nearNames(eventType, events.eventTypes))
}

function unknownName(
  code: 'event_unknown' | 'channel_unknown',
  pointer: string,
  what: string,
  near: readonly string[],
): Refused {
  const detail = `No ${what} has this name.${near.length > 0 ? ` Near: ${near.join(', ')}.` : ''}`
  return refuse(code, detail, { errors: [{ pointer, code: 'not_allowed', detail }] })
}
