import type { DeliveryStatus } from '../model/dispatch.ts'
import type { DeliveryChange } from '../ports/dispatch-store.ts'
import { copyJson } from './copy-json.ts'
import { changeOf } from './delivery-copies.ts'
import type { Transitions } from './delivery-transitions.ts'
import type { DeliveryRow, DigestEvent, DispatchRow } from './dispatch-rows.ts'
import type { OpenDigests } from './open-digests.ts'

/** Cancels what is `queued` and `held`. Gives what changed. */
export function cancelDispatch(dispatch: DispatchRow, digests: OpenDigests, moves: Transitions): DeliveryChange[] {
  const { deliveries } = dispatch
  const changes: DeliveryChange[] = []
  for (const [at, row] of deliveries.entries()) {
    if (row.status !== 'queued' && row.status !== 'held') continue
    const others = row.digest?.events.filter((event) => event.dispatch !== dispatch) ?? []
    const isSaid = row.content !== undefined
    if (others.length > 0 && isSaid) continue
    if (others.length > 0) deliveries[at] = leaveDigest(row, dispatch, others, digests)
    else moves.end(row, 'cancelled')
    changes.push(changeOf(deliveries[at] ?? row))
  }
  return changes
}

/** A digest goes on for the others; this dispatch keeps a record of its own, which it gives. */
function leaveDigest(
  row: DeliveryRow,
  dispatch: DispatchRow,
  others: DigestEvent[],
  digests: OpenDigests,
): DeliveryRow {
  const { digest } = row
  if (!digest) return row
  const events = digest.events.filter((event) => event.dispatch === dispatch)
  digest.events = others
  row.dispatch = others[0]?.dispatch ?? dispatch
  digests.update(row)
  const attemptLog = copyJson(row.attemptLog)
  return { ...row, slot: -1, dispatch, status: 'cancelled', attemptLog, digest: { ...digest, events } }
}

/** With one of these, the others of a route `first` are not wanted. */
const SENT_OR_OPEN: readonly DeliveryStatus[] = ['sent', 'queued', 'sending', 'held']

/** Queues again what failed or expired. Limits are counted only where they have not been. */
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
