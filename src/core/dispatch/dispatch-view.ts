import {
  type Attempt,
  type AttemptView,
  type Delivery,
  type DeliveryView,
  type Dispatch,
  type DispatchView,
  statusOfDispatch,
} from '../../model/dispatch.ts'
import { writeInstant } from '../../model/instants.ts'

/** A stored dispatch as a caller may see it: no address, no content. Shares nothing with it that could be changed. */
export function viewDispatch(dispatch: Dispatch): DispatchView {
  const { dispatchId, eventType, recipient, sessionId, sandboxed, route, createdAt, deliveries } = dispatch
  return {
    dispatchId,
    status: statusOfDispatch(
      deliveries.map(({ status }) => status),
      route,
    ),
    eventType,
    recipient,
    ...(sessionId !== undefined && { sessionId }),
    ...(sandboxed && { sandboxed }),
    createdAt: writeInstant(createdAt),
    deliveries: deliveries.map(viewDelivery),
  }
}

function viewDelivery(delivery: Delivery): DeliveryView {
  const { deliveryId, channel, status, reason, attempts, attemptLog, deferred, dueAt } = delivery
  const { lastCode, providerMessageId, trace, eventCount } = delivery
  const isLater = status === 'queued' && dueAt !== undefined && (deferred || attempts > 0)
  return {
    deliveryId,
    channel,
    status,
    ...(reason !== undefined && { reason }),
    attempts,
    ...(isLater && { nextAttemptAt: writeInstant(dueAt) }),
    ...(eventCount !== undefined && { eventCount }),
    ...(lastCode !== undefined && { lastCode }),
    ...(providerMessageId !== undefined && { providerMessageId }),
    ...(trace && { trace: structuredClone(trace) }),
    ...(attemptLog.length > 0 && { attemptLog: attemptLog.map((attempt) => viewAttempt(attempt, delivery)) }),
  }
}

/** An attempt that has no end is under way if it is the last of a delivery that is being sent; otherwise its worker is gone. */
function viewAttempt({ attempt, startedAt, endedAt, ...end }: Attempt, { status, attempts }: Delivery): AttemptView {
  const isUnderWay = status === 'sending' && attempt === attempts
  const outcome = end.outcome ?? (isUnderWay ? undefined : 'lost')
  return {
    attempt,
    startedAt: writeInstant(startedAt),
    ...(endedAt !== undefined && { endedAt: writeInstant(endedAt) }),
    ...(outcome !== undefined && { outcome }),
    ...(end.code !== undefined && { code: end.code }),
    ...(end.provider !== undefined && { provider: end.provider }),
  }
}
