import type { DispatchRequest } from '../../model/dispatch.ts'
import type { JsonObject } from '../../model/json.ts'
import type { NewDelivery, NewDispatch } from '../../ports/dispatch-store.ts'
import type { CatalogEvent, EventFacts } from '../../ports/event-catalog.ts'
import type { IdGenerator } from '../../ports/id-generator.ts'
import type { Plan, PlannedDelivery } from './plan-dispatch.ts'

/** What a dispatch is made from, beside its plan. */
export interface DispatchOrigin {
  readonly event: CatalogEvent
  readonly request: DispatchRequest
  readonly tenant: string
  /** Epoch milliseconds. */
  readonly now: number
  readonly sandbox: boolean
}

/** A plan as it is to be stored, under ids of its own. */
export function newDispatch(
  { deliveries, recipient, locale }: Plan,
  { event, request, tenant, now, sandbox }: DispatchOrigin,
  ids: IdGenerator,
): NewDispatch {
  const { recipient: to, sessionId, eventData = {} } = request
  const digest = event.digest && { max: event.digest.max, recipient, eventData }
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
  digest:
    | { readonly max: number; readonly recipient: EventFacts['recipient']; readonly eventData: JsonObject }
    | undefined,
): NewDelivery {
  if (planned.status !== 'queued' && planned.status !== 'held') return { deliveryId, ...planned }
  const { digestKey, content, ...delivery } = planned
  const isDeferred = planned.status === 'held' || planned.delayMs !== undefined
  return {
    deliveryId,
    ...delivery,
    ...(isDeferred && { deferred: true }),
    ...(digest && digestKey !== undefined ? { digest: { ...digest, key: digestKey } } : { content }),
  }
}
