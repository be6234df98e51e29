import type { DispatchRequest } from '../../model/dispatch.ts'
import type { NewDelivery, NewDigest, NewDispatch } from '../../ports/dispatch-store.ts'
import type { CatalogEvent } from '../../ports/event-catalog.ts'
import type { IdGenerator } from '../../ports/id-generator.ts'
import type { Plan, PlannedDelivery } from './plan-dispatch.ts'

/** What a dispatch is made from, beside its plan. */
export interface DispatchOrigin {
  readonly event: CatalogEvent
  readonly request: DispatchRequest
  readonly tenant: string
  /** The session of the token that asks, where it is a session token. */
  readonly session: string | undefined
  /** Epoch milliseconds. */
  readonly now: number
  readonly sandbox: boolean
}

/** A plan as it is to be stored, under ids of its own. */
export function newDispatch(
  { deliveries, recipient, locale }: Plan,
  { event, request, tenant, session, now, sandbox }: DispatchOrigin,
  ids: IdGenerator,
): NewDispatch {
  const { recipient: to, sessionId, eventData = {} } = request
  const digest = event.digest && { max: event.digest.max, recipient, eventData, session }
  return {
    dispatchId: ids.next('dsp'),
    tenant,
    eventType: event.eventType,
    recipient: to,
    ...(sessionId !== undefined && { sessionId }),
    route: event.route,
    ...(event.critical && { critical: true }),
    ...(sandbox && { sandboxed: true }),
    ...(locale !== undefined && { locale }),
    createdAt: now,
    deliveries: deliveries.map((planned) => newDelivery(planned, ids.next('dlv'), digest)),
  }
}

function newDelivery(
  planned: PlannedDelivery,
  deliveryId: string,
  digest: (Omit<NewDigest, 'key'> & Pick<DispatchOrigin, 'session'>) | undefined,
): NewDelivery {
  if (planned.status === 'failed') {
    return { deliveryId, channel: planned.channel, status: 'failed', reason: planned.reason }
  }
  if (planned.status === 'skipped') return { deliveryId, ...planned }
  const { digestKey, content, ...delivery } = planned
  const isDeferred = planned.status === 'held' || planned.delayMs !== undefined
  const deferred = isDeferred && { deferred: true as const }
  if (!digest || digestKey === undefined) return { deliveryId, content, ...deferred, ...delivery }
  const { session, ...rest } = digest
  return { deliveryId, digest: { key: keyFor(session, digestKey), ...rest }, ...deferred, ...delivery }
}

/**
 * What an agent's events are gathered under is its own: it may neither put words among those of applications, or of other
 * sessions, nor learn how many they are. No session id holds a space.
 */
function keyFor(session: string | undefined, digestKey: string): string {
  return session === undefined ? ` ${digestKey}` : `${session} ${digestKey}`
}
