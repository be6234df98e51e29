import type { DeliveryStatus } from '../../model/dispatch.ts'
import type { DeliveryChange } from '../../ports/dispatch-store.ts'
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

/** With one of these, the others of a route `first` are not wanted. */
const SENT_OR_OPEN: readonly DeliveryStatus[] = ['sent', 'queued', 'sending', 'held']

/** Queues again what failed or expired, whoever asked for its end before. Limits are counted only where they have not been. */
export function retryDispatch(
  dispatch: DispatchRow,
  { channel, expiresInMs }: { readonly channel?: string; readonly expiresInMs: number },
  now: number,
  moves: Transitions,
): DeliveryChange[] {
  const { head, deliveries } = dispatch
  const first = head.route === 'first'
  if (first && deliveries.some(({ status }) => SENT_OR_OPEN.includes(status))) return []
  const again = deliveries.filter((row) => isRetriable(row) && (channel === undefined || row.channel === channel))
  for (const row of again) {
    row.attemptsBefore = row.attempts
    row.expiresAt = now + expiresInMs
    row.cancelledBy = undefined
    if (first) moves.hold(row)
    else moves.admit(row, now, now)
  }
  if (first) moves.promote(dispatch, now, now)
  return again.map(changeOf)
}

function isRetriable({ status, address, content, digest }: DeliveryRow): boolean {
  if (status !== 'failed' && status !== 'expired') return false
  return address !== undefined && (content !== undefined || digest !== undefined)
}
