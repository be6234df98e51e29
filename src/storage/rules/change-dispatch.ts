import type { DeliveryStatus } from '../../model/dispatch.ts'
import type { DeliveryChange, RetryRequest } from '../../ports/dispatch-store.ts'
import { changeOf } from './delivery-copies.ts'
import type { Transitions } from './delivery-transitions.ts'
import type { DeliveryRow, DispatchRow } from './dispatch-rows.ts'

/** Cancels what is `queued` and `held`, and sees to it that what is `sending` is not queued again. Gives what changed. */
export function cancelDispatch(dispatch: DispatchRow, moves: Transitions): DeliveryChange[] {
  const changes: DeliveryChange[] = []
  for (const row of dispatch.deliveries) {
    const cancelled = moves.cancel(row, dispatch)
    if (cancelled) changes.push(changeOf(cancelled))
  }
  return changes
}

const SENT_OR_OPEN: readonly DeliveryStatus[] = ['sent', 'queued', 'sending', 'held']

/** Whether, with the route `first`, something of a dispatch is sent or may yet be: then the others are not wanted. */
export function hasItsOne({ head, deliveries }: DispatchRow): boolean {
  return head.route === 'first' && deliveries.some(({ status }) => SENT_OR_OPEN.includes(status))
}

/** Queues again what failed or expired, whoever asked for its end before. Limits are counted only where they have not been. */
export function requeueDispatch(
  dispatch: DispatchRow,
  options: RetryRequest,
  now: number,
  moves: Transitions,
): DeliveryChange[] {
  if (hasItsOne(dispatch)) return []
  const again = retryDeliveries(dispatch, options, now, moves)
  if (dispatch.head.route === 'first') moves.promote(dispatch, now, now)
  return again.map(changeOf)
}

/** Queues what can be retried, or holds it with the route `first`. Gives what that was. */
export function retryDeliveries(
  { head, deliveries }: DispatchRow,
  { channel, expiresInMs }: RetryRequest,
  now: number,
  moves: Transitions,
): readonly DeliveryRow[] {
  const again = deliveries.filter((row) => isRetriable(row) && (channel === undefined || row.channel === channel))
  for (const row of again) {
    row.attemptsBefore = row.attempts
    row.expiresAt = now + expiresInMs
    row.cancelledBy = undefined
    if (head.route === 'first') moves.hold(row)
    else moves.admit(row, now, now)
  }
  return again
}

function isRetriable({ status, address, content, digest }: DeliveryRow): boolean {
  if (status !== 'failed' && status !== 'expired') return false
  return address !== undefined && (content !== undefined || digest !== undefined)
}
