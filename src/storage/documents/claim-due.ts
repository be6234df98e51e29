import type { ClaimedDelivery, ClaimRequest, Claims } from '../../ports/dispatch-store.ts'
import type { Documents } from '../../ports/documents.ts'
import { type Expired, expireDelivery } from '../rules/delivery-transitions.ts'
import { beginAttempt, claimedDelivery, type DeliveryRow } from '../rules/dispatch-rows.ts'
import { EXPIRING, isWaiting, type WaitingDelivery } from './delivery-documents.ts'
import type { DocumentUnitOfWork } from './dispatch-unit-of-work.ts'
import { prefixOf, timeIn } from './keys.ts'
import { walkDocuments } from './pages.ts'
import type { Transaction } from './transaction.ts'

/** The most deliveries that one claim leases, and the most that it lets expire: a commit stays small. */
const AT_ONCE = 25

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
  const isPassed = (channel: string, { deliveryId, concurrencyKey }: WaitingDelivery): boolean =>
    gone.has(deliveryId) || (concurrencyKey !== undefined && busyKeys.has(JSON.stringify([channel, concurrencyKey])))
  const channels = await Promise.all(
    Object.entries(limits).map(([channel, limit]) =>
      dueOf(channel, Math.min(limit, AT_ONCE), (waiting) => isPassed(channel, waiting), now, documents),
    ),
  )
  const due = channels.flatMap((channel) => channel.due).sort((one, other) => one.wakeAt - other.wakeAt)
  const deliveries: ClaimedDelivery[] = []
  for (const { deliveryId } of due.slice(0, AT_ONCE)) {
    const row = await unit.delivery(deliveryId)
    if (row && (await canLease(row, unit, now))) deliveries.push(lease(row, unit, now, leaseMs))
  }
  const isMore = deliveries.length < due.length || expired.length >= AT_ONCE
  const times = [
    ...channels.map(({ nextAt }) => nextAt),
    deliveries.length > 0 ? now + leaseMs : Number.POSITIVE_INFINITY,
  ]
  const nextAt = isMore ? now : Math.max(now, Math.min(...times))
  return { deliveries, expired, ...(nextAt < Number.POSITIVE_INFINITY && { nextDueInMs: nextAt - now }) }
}

/** Ends what is past its expiry, whatever its channel. */
async function expire(unit: DocumentUnitOfWork, now: number, documents: Documents): Promise<Expired[]> {
  const expired: Expired[] = []
  for await (const { key, text } of walkDocuments(documents, EXPIRING, { first: 'oldest' }, AT_ONCE)) {
    if (timeIn(key, EXPIRING) > now || expired.length >= AT_ONCE) break
    const { deliveryId }: Pick<WaitingDelivery, 'deliveryId'> = JSON.parse(text)
    const row = await unit.delivery(deliveryId)
    if (!row || !isWaiting(row) || row.wakeAt > now || row.expiresAt > now) continue
    await unit.readOwners(row)
    expired.push(...expireDelivery(row, unit.transitions))
  }
  return expired
}

/** The first due deliveries of a channel that are not passed over, and when the one after them is due. */
async function dueOf(
  channel: string,
  limit: number,
  isPassed: (waiting: WaitingDelivery) => boolean,
  now: number,
  documents: Documents,
): Promise<{ readonly due: readonly Due[]; readonly nextAt: number }> {
  const prefix = prefixOf('waiting', channel)
  const due: Due[] = []
  for await (const { key, text } of walkDocuments(documents, prefix, { first: 'oldest' }, limit + 1)) {
    const waiting: WaitingDelivery = JSON.parse(text)
    const wakeAt = timeIn(key, prefix)
    if (isPassed(waiting)) continue
    if (wakeAt > now || due.length >= limit) return { due, nextAt: wakeAt }
    due.push({ deliveryId: waiting.deliveryId, wakeAt })
  }
  return { due, nextAt: Number.POSITIVE_INFINITY }
}

/** A delivery whose last lease ended without a word is cancelled instead, if somebody asked for that meanwhile. */
async function canLease(row: DeliveryRow, unit: DocumentUnitOfWork, now: number): Promise<boolean> {
  if (!isWaiting(row) || row.wakeAt > now || row.expiresAt <= now) return false
  if (row.status === 'sending' && row.cancelledBy) {
    await unit.readOwners(row)
    unit.transitions.queue(row, row.wakeAt)
  }
  return isWaiting(row)
}

/** The fence is new for every lease: the worker of the one before can change nothing. */
function lease(row: DeliveryRow, unit: DocumentUnitOfWork, now: number, leaseMs: number): ClaimedDelivery {
  const fence = crypto.randomUUID()
  const wasSending = row.status === 'sending'
  unit.transitions.lease(row, fence, now + leaseMs)
  beginAttempt(row, now)
  return claimedDelivery(row, fence, now, wasSending)
}
