import { MAX_TENANTS_VISITED } from '../../model/tenant-turns.ts'
import type { ClaimedDelivery, ClaimRequest, Claims } from '../../ports/dispatch-store.ts'
import type { Documents } from '../../ports/documents.ts'
import { type ClaimQueue, queueKey, queuesOf } from '../rules/claim-priority.ts'
import { type Expired, expireDelivery } from '../rules/delivery-transitions.ts'
import { beginAttempt, claimedDelivery, type DeliveryRow } from '../rules/dispatch-rows.ts'
import { hasComeAround, MAX_ROUNDS, shareTurns, type Visit } from '../rules/tenant-turns.ts'
import { EXPIRING, isWaiting, turnKey, type WaitingDelivery, waitingKey } from './delivery-documents.ts'
import type { DocumentUnitOfWork } from './dispatch-unit-of-work.ts'
import { prefixOf, timeIn } from './keys.ts'
import { walkDocuments } from './pages.ts'
import type { Transaction } from './transaction.ts'

/** Limit of the deliveries that one claim leases in all channels, at least one each, and of those that it expires: keeps commits small. */
const MAX_CLAIMED = 25

interface Due {
  readonly deliveryId: string
  readonly tenant: string
  readonly wakeAt: number
}

/**
 * Leases due deliveries: the oldest urgent ones, then the oldest normal ones. If there are more of a priority than its channel's limit has
 * left, those of the next tenants come first. Index documents only give candidates: each is read and checked again in the transaction.
 */
export async function claimDueDocuments(
  { leaseMs, limits, busy, full = [], after = {} }: ClaimRequest,
  unit: DocumentUnitOfWork,
  tx: Transaction,
  documents: Documents,
): Promise<Claims> {
  const { now } = tx
  const expired = await expire(unit, now, documents)
  const gone = new Set(expired.map(({ deliveryId }) => deliveryId))
  const left = new Set([
    ...busy.map(({ channel, concurrencyKey, tenant }) => JSON.stringify([channel, 'receiver', concurrencyKey, tenant])),
    ...full.map(({ channel, tenant }) => JSON.stringify([channel, 'tenant', tenant])),
  ])
  const isSkipped = (channel: string, { deliveryId, tenant, concurrencyKey }: WaitingDelivery): boolean =>
    gone.has(deliveryId) ||
    left.has(JSON.stringify([channel, 'tenant', tenant])) ||
    (concurrencyKey !== undefined &&
      [undefined, tenant].some((of) => left.has(JSON.stringify([channel, 'receiver', concurrencyKey, of]))))
  // Before the turns: a cut by age after them would leave out the only delivery of a tenant again and again.
  const each = Math.max(1, Math.floor(MAX_CLAIMED / Object.values(limits).filter((limit) => limit > 0).length))
  const channels = await Promise.all(
    Object.entries(limits).map(([channel, limit]) => {
      const isShared = full.some((one) => one.channel === channel)
      const due = isShared && limit > 0 ? dueOfOthers : dueInTurn
      const read = { isSkipped: (waiting: WaitingDelivery) => isSkipped(channel, waiting), now, documents }
      return dueOfChannel(channel, Math.min(limit, each), (queue, left) =>
        due({ ...read, queue }, left, after[queueKey(queue)] ?? ''),
      )
    }),
  )
  const queues = channels.flat()
  const due = queues
    .flatMap(({ queue, due }) => due.map((one) => ({ ...one, ...queue })))
    .sort((one, other) => one.priority - other.priority || one.wakeAt - other.wakeAt)
  const deliveries: ClaimedDelivery[] = []
  for (const { deliveryId } of due) {
    const row = await unit.delivery(deliveryId)
    if (row && (await canLease(row, unit, now))) deliveries.push(lease(row, unit, now, leaseMs))
  }
  const isMore = deliveries.length < due.length || expired.length >= MAX_CLAIMED
  const times = [
    ...queues.map(({ nextAt }) => nextAt),
    deliveries.length > 0 ? now + leaseMs : Number.POSITIVE_INFINITY,
  ]
  const nextAt = isMore ? now : Math.max(now, Math.min(...times))
  const cursors = queues.flatMap(({ queue, last }) => (last === undefined ? [] : [[queueKey(queue), last] as const]))
  return {
    deliveries,
    expired,
    ...(nextAt < Number.POSITIVE_INFINITY && { nextDueInMs: nextAt - now }),
    ...(cursors.length > 0 && { last: Object.fromEntries(cursors) }),
  }
}

/** The due deliveries of a channel, those of the first priority first. A limit that is used up still gives the next due time. */
async function dueOfChannel(
  channel: string,
  limit: number,
  read: (queue: ClaimQueue, limit: number) => Promise<DueInTurn>,
): Promise<readonly DueInTurn[]> {
  const found: DueInTurn[] = []
  let left = limit
  for (const queue of queuesOf([channel])) {
    const due = await read(queue, left)
    left -= due.due.length
    found.push(due)
  }
  return found
}

/** A queue in one claim. */
interface QueueRead {
  readonly queue: ClaimQueue
  readonly isSkipped: (waiting: WaitingDelivery) => boolean
  readonly now: number
  readonly documents: Documents
}

interface DueInTurn {
  readonly queue: ClaimQueue
  readonly due: readonly Due[]
  readonly nextAt: number
  readonly last?: string | undefined
}

async function dueInTurn(read: QueueRead, limit: number, after: string): Promise<DueInTurn> {
  const { queue } = read
  const oldest = await dueOf(read, waitingKey(queue), limit)
  if (limit <= 0 || oldest.due.length < limit) return { queue, ...oldest }
  const { visits } = await visitsAfter(read, after)
  const { shares, last } = shareTurns(visits, limit, read.now)
  const due = new Map<string, Due>()
  const [first] = shares
  const isOneTenant =
    shares.length === 1 && oldest.due.length > 0 && oldest.due.every((one) => one.tenant === first?.tenant)
  for (const { tenant, amount } of isOneTenant ? [] : shares) {
    const own = await dueOf(read, turnKey(queue, tenant), amount)
    for (const one of own.due) due.set(one.deliveryId, one)
  }
  for (const one of oldest.due) if (due.size < limit) due.set(one.deliveryId, one)
  return { queue, due: [...due.values()], nextAt: oldest.nextAt, last }
}

/** The turns of a queue with tenants at their share of its channel: reads only the others, because the backlog of those may be long. */
async function dueOfOthers(read: QueueRead, limit: number, start: string): Promise<DueInTurn> {
  const { queue, now } = read
  let after = start
  let nextAt = Number.POSITIVE_INFINITY
  for (let rounds = 1; ; rounds++) {
    const { visits, isCut } = await visitsAfter(read, after)
    const { shares, last } = shareTurns(visits, limit, now)
    const amounts = new Map(shares.map(({ tenant, amount }) => [tenant, amount]))
    const due: Due[] = []
    for (const { tenant, firstAt } of visits) {
      const amount = amounts.get(tenant) ?? 0
      const own = firstAt <= now ? await dueOf(read, turnKey(queue, tenant), amount) : { due: [], nextAt: firstAt }
      due.push(...own.due)
      nextAt = Math.min(nextAt, own.nextAt)
    }
    const isLast = last === undefined || !isCut || hasComeAround(orderOf(start), orderOf(after), orderOf(last))
    if (due.length === 0 && !isLast && rounds < MAX_ROUNDS) after = last
    else return { queue, due, nextAt: isLast ? nextAt : now, last }
  }
}

interface Visits {
  readonly visits: readonly Visit[]
  /** Further tenants were not visited. */
  readonly isCut: boolean
}

/** The next tenants with waiting deliveries, from the one after `after` on and around. */
async function visitsAfter({ queue, isSkipped, documents }: QueueRead, after: string): Promise<Visits> {
  const visits: Visit[] = []
  const start = after === '' ? undefined : afterTenant(queue, after)
  for (const [from, until] of [
    [start, undefined],
    [undefined, start],
  ] as const) {
    let position = from
    for (;;) {
      const [first] = await documents.list(turnKey(queue), {
        limit: 1,
        ...(position !== undefined && { after: position }),
      })
      if (!first || (until !== undefined && first.key > until)) break
      const { tenant }: WaitingDelivery = JSON.parse(first.text)
      position = afterTenant(queue, tenant)
      if (isSkipped({ deliveryId: '', tenant })) continue
      if (visits.length >= MAX_TENANTS_VISITED) return { visits, isCut: true }
      visits.push({ tenant, firstAt: timeIn(first.key, turnKey(queue, tenant)) })
    }
    if (start === undefined) break
  }
  return { visits, isCut: false }
}

/** Sorts as the keys of a tenant do. */
function orderOf(tenant: string): string {
  return tenant === '' ? '' : prefixOf(tenant)
}

/** A key after all keys of a tenant. */
function afterTenant(queue: ClaimQueue, tenant: string): string {
  return `${turnKey(queue, tenant)}z`
}

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

/** The first due deliveries of an index that are not skipped, and the due time of the next one. */
async function dueOf(
  { isSkipped, now, documents }: QueueRead,
  prefix: string,
  limit: number,
): Promise<{ readonly due: readonly Due[]; readonly nextAt: number }> {
  const due: Due[] = []
  for await (const { key, text } of walkDocuments(documents, prefix, { first: 'oldest' }, limit + 1)) {
    const waiting: WaitingDelivery = JSON.parse(text)
    const wakeAt = timeIn(key, prefix)
    if (isSkipped(waiting)) continue
    if (wakeAt > now || due.length >= limit) return { due, nextAt: wakeAt }
    due.push({ deliveryId: waiting.deliveryId, tenant: waiting.tenant, wakeAt })
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

/** Each lease has a new fencing token, which invalidates the previous lease. */
function lease(row: DeliveryRow, unit: DocumentUnitOfWork, now: number, leaseMs: number): ClaimedDelivery {
  const fence = crypto.randomUUID()
  const wasSending = row.status === 'sending'
  unit.transitions.lease(row, fence, now + leaseMs)
  beginAttempt(row, now)
  return claimedDelivery(row, fence, now, wasSending)
}
