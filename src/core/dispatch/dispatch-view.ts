import type { Attempt, AttemptView } from '../../model/attempt.ts'
import {
  type Delivery,
  type DeliveryStatus,
  type DeliveryView,
  type Dispatch,
  type DispatchPreview,
  type DispatchRequest,
  type DispatchStatus,
  type DispatchView,
  type PreviewedDelivery,
  type Route,
  statusOfDispatch,
  type Warning,
} from '../../model/dispatch.ts'
import { writeInstant } from '../../model/instants.ts'
import { maskAddress } from '../../model/mask-address.ts'
import type { DeliveryWaiting } from '../../model/waiting.ts'
import type { CatalogEvent } from '../../ports/event-catalog.ts'
import type { Plan, PlannedDelivery } from './plan/plan-dispatch.ts'

/**
 * Converts a stored dispatch to its public view, without addresses and content. Shares nothing mutable with it.
 *
 * @param now Epoch milliseconds. A delivery whose due time has come waits no more.
 */
export function viewDispatch(dispatch: Dispatch, now: number): DispatchView {
  const { dispatchId, by, eventType, recipient, sessionId, priority, sandboxed, route, createdAt, deliveries } =
    dispatch
  return {
    dispatchId,
    status: statusOf(deliveries, route),
    eventType,
    recipient,
    ...(sessionId !== undefined && { sessionId }),
    ...(priority && { priority }),
    ...(sandboxed && { sandboxed }),
    by,
    createdAt: writeInstant(createdAt),
    deliveries: deliveries.map((delivery) => viewDelivery(delivery, now)),
  }
}

/** Adds the masked addresses and the content of deliveries to the view of their dispatch. */
export function viewContent(view: DispatchView, { deliveries }: Dispatch): DispatchView {
  return {
    ...view,
    deliveries: view.deliveries.map((shown, at) => {
      const { address, content } = deliveries[at] ?? {}
      return {
        ...shown,
        ...(address !== undefined && { address: maskAddress(address) }),
        ...(content && { content: structuredClone(content) }),
      }
    }),
  }
}

function viewDelivery(delivery: Delivery, now: number): DeliveryView {
  const { deliveryId, channel, status, reason, attempts, attemptLog, deferred, dueAt } = delivery
  const { lastCode, providerMessageId, trace, eventCount, waitsFor } = delivery
  const isLater = status === 'queued' && dueAt !== undefined && (deferred || attempts > 0 || waitsFor !== undefined)
  const waiting = waitingOf(delivery, now)
  return {
    deliveryId,
    channel,
    status,
    ...(reason !== undefined && { reason }),
    attempts,
    ...(isLater && { nextAttemptAt: writeInstant(dueAt) }),
    ...(waiting && { waiting }),
    ...(eventCount !== undefined && { eventCount }),
    ...(lastCode !== undefined && { lastCode }),
    ...(providerMessageId !== undefined && { providerMessageId }),
    ...(trace && { trace: structuredClone(trace) }),
    ...(attemptLog.length > 0 && { attemptLog: attemptLog.map((attempt) => viewAttempt(attempt, delivery)) }),
  }
}

/** The wait of a delivery: its stored word, or what its record tells. */
function waitingOf(delivery: Delivery, now: number): DeliveryWaiting | undefined {
  const { status, dueAt, waitsFor, eventCount, content, attempts } = delivery
  if (status === 'held') return { for: 'fallback' }
  if (status !== 'queued' || dueAt === undefined || dueAt <= now) return undefined
  const isOpenDigest = eventCount !== undefined && content === undefined
  return { for: waitsFor ?? (isOpenDigest ? 'digest' : attempts > 0 ? 'retry' : 'delay'), until: writeInstant(dueAt) }
}

/** An attempt without an end is in flight if it is the last one of a `sending` delivery; otherwise its worker died: `lost`. */
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
    ...(end.providers && { providers: structuredClone(end.providers) }),
    ...(end.enhancedStatus !== undefined && { enhancedStatus: end.enhancedStatus }),
    ...(end.omittedCopies !== undefined && { omittedCopies: end.omittedCopies }),
  }
}

function statusOf(deliveries: readonly { readonly status: DeliveryStatus }[], route: Route): DispatchStatus {
  const statuses = deliveries.map(({ status }) => status)
  return statusOfDispatch(statuses, route)
}

interface PreviewOrigin {
  readonly event: Pick<CatalogEvent, 'eventType' | 'route'>
  readonly request: Pick<DispatchRequest, 'sessionId'>
  /** Time of planning, epoch milliseconds. */
  readonly now: number
  readonly sandbox: boolean
}

/** Converts a plan to the answer of a dry run, with masked addresses. */
export function previewDispatch(
  { deliveries }: Plan,
  { event: { eventType, route }, request: { sessionId }, now, sandbox }: PreviewOrigin,
  warnings: readonly Warning[],
): DispatchPreview {
  return {
    dryRun: true,
    status: statusOf(deliveries, route),
    eventType,
    ...(sessionId !== undefined && { sessionId }),
    ...(sandbox && { sandboxed: true }),
    warnings,
    deliveries: deliveries.map((planned) => previewDelivery(planned, now)),
  }
}

function previewDelivery(planned: PlannedDelivery, now: number): PreviewedDelivery {
  if (!('address' in planned) || planned.address === undefined) return planned
  const address = maskAddress(planned.address)
  if (planned.status === 'skipped') return { ...planned, address }
  const { channel, status, content, delayMs, waitsFor, digestKey } = planned
  const until = delayMs !== undefined && writeInstant(now + delayMs)
  const cause = waitsFor ?? (digestKey === undefined ? 'delay' : 'digest')
  return { channel, status, address, content, ...(until && { nextAttemptAt: until, waiting: { for: cause, until } }) }
}
