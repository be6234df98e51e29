import { type DispatchRequest, isHostCodeReason } from '../../../model/dispatch.ts'
import type { NewDelivery, NewDigest, NewDispatch } from '../../../ports/dispatch-store.ts'
import type { CatalogEvent } from '../../../ports/event-catalog.ts'
import type { IdGenerator } from '../../../ports/id-generator.ts'
import type { PlanSource } from '../../../ports/plan-source.ts'
import type { Plan, PlannedDelivery } from './plan-dispatch.ts'

/** What a dispatch is made from, beside its plan. */
export interface DispatchOrigin {
  readonly event: CatalogEvent
  readonly request: DispatchRequest
  readonly tenant: string
  /** The session of the token that asks, where it is a session token. */
  readonly session: string | undefined
  /** Instead of the event's own delay. */
  readonly delayMs?: number | undefined
  readonly sandbox: boolean
}

/** A plan as it is to be stored, under ids of its own. */
export function newDispatch(
  plan: Plan,
  { event, request, tenant, session, delayMs, sandbox }: DispatchOrigin,
  ids: IdGenerator,
): NewDispatch {
  const { recipient: to, sessionId, eventData = {} } = request
  const { locale } = plan
  const source: PlanSource = {
    eventData,
    ...(session !== undefined && { session }),
    ...(delayMs !== undefined && { delayMs }),
  }
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
    deliveries: newDeliveries(plan, event, source, () => ids.next('dlv')),
    ...(plan.deliveries.some(failedInHostCode) && { source }),
  }
}

/** The deliveries of a plan as they are to be stored. */
export function newDeliveries(
  { deliveries, recipient }: Pick<Plan, 'deliveries' | 'recipient'>,
  { digest }: CatalogEvent,
  { eventData, session }: PlanSource,
  idOf: (channel: string) => string,
): readonly NewDelivery[] {
  const opened = digest && { max: digest.max, recipient, eventData, session }
  return deliveries.map((planned) => newDelivery(planned, idOf(planned.channel), opened))
}

/** It can be planned again, once the host's code is another. */
function failedInHostCode({ status, ...planned }: PlannedDelivery): boolean {
  return status === 'failed' && 'reason' in planned && isHostCodeReason(planned.reason)
}

function newDelivery(
  planned: PlannedDelivery,
  deliveryId: string,
  digest: (Omit<NewDigest, 'key'> & { readonly session: string | undefined }) | undefined,
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
