import type { ClaimedDelivery, ClaimRequest, Claims } from '../../ports/dispatch-store.ts'
import type { Documents } from '../../ports/documents.ts'
import { type Expired, expireDelivery } from '../rules/delivery-transitions.ts'
import { beginAttempt, claimedDelivery, type DeliveryRow } from '../rules/dispatch-rows.ts'
import { EXPIRING, isWaiting, type WaitingDelivery } from './delivery-documents.ts'
import type { DocumentUnitOfWork } from './dispatch-unit-of-work.ts'
import { prefixOf, timeIn } from './keys.ts'
import { walkDocuments } from './pages.ts'
import type { Transaction } from './transaction.ts'

/** The most deliveries that one claim leases, and the most that it expires: a commit stays small. */
const MAX_CLAIMED = 25

interface Due {
  readonly deliveryId: string
  readonly wakeAt: number
}

/**
 * Leases due deliveries, oldest first. Lists only suggest candidates: each is read in the transaction and checked again. Where that
 * finds a change, or a bound is reached, the claim says that there is more.
 */
export async function claimDueDocuments(
  { leaseMs, limits, busy }: ClaimRequest,
  unit: DocumentUnitOfWork,
  tx: Transaction,
  documents: Documents,
): Promise<Claims> {
  const { now } = tx
  const expired = await expire(unit, now, documents)
  const gone = new Set(expired.map(({ deliveryId }) => deliveryId))
  const busyKeys = new Set(busy.map(({ channel, concurrencyKey }) => JSON.stringify([channel, concurrencyKey])))
  const isSkipped = (channel: string, { deliveryId, concurrencyKey }: WaitingDelivery): boolean =>
    gone.has(deliveryId) || (concurrencyKey !== undefined && busyKeys.has(JSON.stringify([channel, concurrencyKey])))
  const channels = await Promise.all(
    Object.entries(limits).map(([channel, limit]) =>
      dueOf(channel, Math.min(limit, MAX_CLAIMED), (waiting) => isSkipped(channel, waiting), now, documents),
    ),
  )
  const due = channels.flatMap((channel) => channel.due).sort((one, other) => one.wakeAt - other.wakeAt)
  const deliveries: ClaimedDelivery[] = []
  for (const { deliveryId } of due.slice(0, MAX_CLAIMED)) {
    const row = await unit.delivery(deliveryId)
    if (row && (await canLease(row, unit, now))) deliveries.push(lease(row, unit, now, leaseMs))
  }
  const isMore = deliveries.length < due.length || expired.length >= MAX_CLAIMED
  const times = [
    ...channels.map(({ nextAt }) => nextAt),
    deliveries.length > 0 ? now + leaseMs : Number.POSITIVE_INFINITY,
  ]
  const nextAt = isMore ? now : Math.max(now, Math.min(...times))
  return { deliveries, expired, ...(nextAt < Number.POSITIVE_INFINITY && { nextDueInMs: nextAt - now }) }
}

/** Ends expired deliveries of all channels. */
async function expire(unit: DocumentUnitOfWork, now: number, documents: Documents): Promise<Expired[]> {
  const expired: Expired[] = []
  for await (const { key, text } of walkDocuments(documents, EXPIRING, { first: 'oldest' }, MAX_CLAIMED)) {
    if (timeIn(key, EXPIRING) > now || expired.length >= MAX_CLAIMED) break
    const { deliveryId }: Pick<WaitingDelivery, 'deliveryId'> = JSON.parse(text)
    const row = await unit.delivery(deliveryId)
    if (!row || !isWaiting(row) || row.wakeAt > now || row.expiresAt > now) continue
    await unit.readOwners(row)
    expired.push(...expireDelivery(row, unit.transitions))
  }
  return expired
}

/** The first due deliveries of a channel that are not skipped, and when the one after them is due. */
async function dueOf(
  channel: string,
  limit: number,
  isSkipped: (waiting: WaitingDelivery) => boolean,
  now: number,
  documents: Documents,
): Promise<{ readonly due: readonly Due[]; readonly nextAt: number }> {
  const prefix = prefixOf('waiting', channel)
  const due: Due[] = []
  for await (const { key, text } of walkDocuments(documents, prefix, { first: 'oldest' }, limit + 1)) {
    const waiting: WaitingDelivery = JSON.parse(text)
    const wakeAt = timeIn(key, prefix)
    if (isSkipped(waiting)) continue
    if (wakeAt > now || due.length >= limit) return { due, nextAt: wakeAt }
    due.push({ deliveryId: waiting.deliveryId, wakeAt })
  }
  return { due, nextAt: Number.POSITIVE_INFINITY }
}

/** Whether a delivery can be leased. If its last lease expired while a cancellation was requested, it is cancelled instead. */
async function canLease(row: DeliveryRow, unit: DocumentUnitOfWork, now: number): Promise<boolean> {
  if (!isWaiting(row) || row.wakeAt > now || row.expiresAt <= now) return false
  if (row.status === 'sending' && row.cancelledBy) {
    await unit.readOwners(row)
    unit.transitions.queue(row, row.wakeAt)
  }
  return isWaiting(row)
}

/** Each lease has a new fencing token: the worker of the lease before can change nothing. */
function lease(row: DeliveryRow, unit: DocumentUnitOfWork, now: number, leaseMs: number): ClaimedDelivery {
  const fence = crypto.randomUUID()
  const wasSending = row.status === 'sending'
  unit.transitions.lease(row, fence, now + leaseMs)
  beginAttempt(row, now)
  return claimedDelivery(row, fence, now, wasSending)
}
