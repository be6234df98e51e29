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
import { type Candidate, type Ended, screenChannels } from './screen-channels.ts'

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
  /** Epoch milliseconds. */
  readonly now: number
  /** Instead of the event's own delay. */
  readonly delayMs: number | undefined
}

/** Everything that can be known before anything is stored. */
export async function planRequest(
  event: CatalogEvent,
  { recipient: recipientId, eventData = {}, channel }: DispatchRequest,
  scope: PlanningScope,
  { channels, recipients, policy, sandbox = false }: PlanningDeps,
): Promise<Plan | Refused> {
  const entries = channel === undefined ? event.channels : overridden(event, channel, channels)
  if (isRefused(entries)) return entries
  const { tenant, now, delayMs = event.delayMs } = scope
  if (event.digest && delayMs > 0) return refuse('validation_failed', 'A digest has a window: it takes no delay.')
  const checking = event.checkData(eventData)
  const checked = 'then' in checking ? await checking : checking
  if (checked.outcome === 'invalid') return invalid(checked.issues)
  const reachable = (): readonly Channel[] => entries.flatMap((entry) => channels[entry.channel] ?? [])
  const resolved = resolveRecipient(recipientId, tenant, recipients, reachable)
  const recipient = 'then' in resolved ? await resolved : resolved
  if (isRefused(recipient)) return recipient
  const facts = { data: checked.data, recipient, events: [checked.data] }
  const screened = screenChannels(event, entries, facts, channels)
  const at = now + delayMs + (event.digest?.windowMs ?? 0)
  const verdicts = policy && (await verdictsOn(screened, event, recipient, scope, at, policy))
  return planDispatch({ event, facts, screened, now, delayMs, sandbox, ...(verdicts && { verdicts }) })
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
  screened: readonly (Candidate | Ended)[],
  { eventType, critical }: CatalogEvent,
  recipient: Recipient,
  { tenant, session }: PlanningScope,
  at: number,
  policy: DeliveryPolicy,
): Promise<readonly (Verdict | undefined)[]> {
  const asker = session !== undefined && { sessionId: session }
  const ask = async ({ status, channel }: Candidate | Ended): Promise<Verdict | undefined> =>
    status === 'candidate'
      ? askPolicy(policy, { tenant, eventType, critical, channel, recipient, at, ...asker })
      : undefined
  return port('policy_unavailable', () => Promise.all(screened.map(ask)))
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
