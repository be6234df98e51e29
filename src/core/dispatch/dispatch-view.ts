import type {
  Delivery,
  DeliveryStatus,
  DeliveryView,
  Dispatch,
  DispatchStatus,
  DispatchView,
  Route,
} from '../../model/dispatch.ts'

/** A stored dispatch as a caller may see it: no address, no content. */
export function viewDispatch(dispatch: Dispatch): DispatchView {
  const { dispatchId, eventType, recipient, sessionId, route, createdAt, deliveries } = dispatch
  return {
    dispatchId,
    status: statusOfDispatch(
      deliveries.map(({ status }) => status),
      route,
    ),
    eventType,
    recipient,
    ...(sessionId !== undefined && { sessionId }),
    createdAt: new Date(createdAt).toISOString(),
    deliveries: deliveries.map(viewDelivery),
  }
}

function viewDelivery(delivery: Delivery): DeliveryView {
  const { deliveryId, channel, status, reason, attempts, dueAt, lastCode, providerMessageId, trace } = delivery
  return {
    deliveryId,
    channel,
    status,
    ...(reason !== undefined && { reason }),
    attempts,
    ...(status === 'queued' && attempts > 0 && dueAt !== undefined && { nextAttemptAt: new Date(dueAt).toISOString() }),
    ...(lastCode !== undefined && { lastCode }),
    ...(providerMessageId !== undefined && { providerMessageId }),
    ...(trace && { trace }),
  }
}

/**
 * The state of a dispatch. `partial`: something failed, and something else was or may still be sent. With `first` one
 * success is all that was asked for, so what failed before it does not count.
 */
export function statusOfDispatch(statuses: readonly DeliveryStatus[], route: Route): DispatchStatus {
  const has = (...wanted: readonly DeliveryStatus[]): boolean => statuses.some((status) => wanted.includes(status))
  const open = has('queued', 'sending', 'held')
  const lost = has('failed', 'expired')
  if (lost && route === 'all' && (open || has('sent'))) return 'partial'
  if (open) return 'queued'
  if (has('sent')) return 'sent'
  if (lost) return 'failed'
  return has('cancelled') ? 'cancelled' : 'skipped'
}
