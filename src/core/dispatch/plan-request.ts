import type { DispatchRequest } from '../../model/dispatch.ts'
import type { Channel } from '../../ports/channel.ts'
import type { CatalogEvent, EventCatalog } from '../../ports/event-catalog.ts'
import type { RecipientDirectory } from '../../ports/recipient-directory.ts'
import { nearNames } from '../near-names.ts'
import { isRefused, type Refused, refuse } from '../result.ts'
import { invalid } from '../validate.ts'
import { type Plan, planDispatch } from './plan-dispatch.ts'
import { resolveRecipient } from './resolve-recipient.ts'

/** What planning asks. */
interface PlanningParts {
  readonly channels: Readonly<Record<string, Channel>>
  readonly recipients?: RecipientDirectory
}

/** Everything that can be known before anything is stored. */
export async function planRequest(
  event: CatalogEvent,
  { recipient: recipientId, eventData = {}, channel }: DispatchRequest,
  tenant: string,
  { channels, recipients }: PlanningParts,
): Promise<Plan | Refused> {
  if (channel !== undefined && !Object.hasOwn(channels, channel)) {
    return unknownName('channel_unknown', '/channel', 'channel', nearNames(channel, Object.keys(channels)))
  }
  const planned = event.channels.filter((entry) => channel === undefined || entry.channel === channel)
  if (planned.length === 0) {
    const detail = `The event uses ${event.channels.map((entry) => entry.channel).join(', ')}.`
    return refuse('channel_not_allowed', detail, { errors: [{ pointer: '/channel', code: 'not_allowed', detail }] })
  }
  const checked = await event.checkData(eventData)
  if (checked.outcome === 'invalid') return invalid(checked.issues)
  const reachable = planned.flatMap((entry) => channels[entry.channel] ?? [])
  const recipient = await resolveRecipient(recipientId, tenant, recipients, reachable)
  if (isRefused(recipient)) return recipient
  return planDispatch(planned, event, { data: checked.data, recipient }, channels)
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
