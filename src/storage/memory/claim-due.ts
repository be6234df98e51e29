import { MAX_TENANTS_VISITED } from '../../model/tenant-turns.ts'
import type { ClaimedDelivery, ClaimRequest, Claims } from '../../ports/dispatch-store.ts'
import {
  CLAIM_PRIORITIES,
  type ClaimPriority,
  type ClaimQueue,
  NORMAL,
  queueKey,
  queuesOf,
  URGENT,
} from '../rules/claim-priority.ts'
import { type Expired, expireDelivery, type Transitions } from '../rules/delivery-transitions.ts'
import { beginAttempt, claimedDelivery, type DeliveryRow } from '../rules/dispatch-rows.ts'
import { shareTurns, type Visit } from '../rules/tenant-turns.ts'
import type { ReceiverQueues } from './receiver-queues.ts'

/** One claim ends about this many expired deliveries at most, to stay short. It then reports that more are due. */
const MAX_EXPIRED = 1_000

/** A leased delivery, with its position in the order of the due ones. */
interface Leased {
  readonly claimed: ClaimedDelivery
  readonly priority: ClaimPriority
  readonly dueAt: number
  readonly slot: number
}

/** Queues by priority. */
export type PriorityQueues = Readonly<Record<ClaimPriority, ReceiverQueues<DeliveryRow>>>

/**
 * Leases due deliveries, those of the first priority first: of each tenant its share, then the earliest of all. `nextDueInMs` includes
 * channels at their limit. It first ends expired deliveries: in each channel up to the first delivery that is not expired, and all of busy
 * receivers.
 */
export function claimDue(
  { leaseMs, limits, busy, full = [], after = {} }: ClaimRequest,
  now: number,
  all: PriorityQueues,
  transitions: Transitions,
  newFence: () => string,
): Claims {
  const leased: Leased[] = []
  const expired: Expired[] = []
  const last: Record<string, string> = {}

  function firstDue(first: () => DeliveryRow | undefined): DeliveryRow | undefined {
    while (expired.length < MAX_EXPIRED) {
      const row = first()
      if (!row || row.wakeAt > now) return undefined
      if (row.expiresAt > now) return row
      expired.push(...expireDelivery(row, transitions))
    }
    return undefined
  }

  function lease(row: DeliveryRow): ClaimedDelivery {
    const fence = newFence()
    const wasSending = row.status === 'sending'
    transitions.lease(row, fence, now + leaseMs)
    beginAttempt(row, now)
    return claimedDelivery(row, fence, now, wasSending)
  }

  /** Leases at most `amount` deliveries, and returns their number. */
  function take(amount: number, first: () => DeliveryRow | undefined): number {
    for (let taken = 0; taken < amount; ) {
      const row = firstDue(first)
      if (!row) return taken
      const { priority, wakeAt: dueAt, slot } = row
      // The lease expired while a cancellation was requested: cancel it, or queue it for the other dispatches.
      if (row.status === 'sending' && row.cancelledBy) transitions.queue(row, row.wakeAt)
      else {
        leased.push({ claimed: lease(row), priority, dueAt, slot })
        taken++
      }
    }
    return amount
  }

  /** Leases at most `limit` deliveries of one priority, and returns their number. */
  function takeTurns(queue: ClaimQueue, limit: number): number {
    const { channel } = queue
    const queues = all[queue.priority]
    const key = queueKey(queue)
    const turns = shareTurns(visitsOf(queues.tenantsAfter(channel, after[key] ?? '')), limit, now)
    let left = limit
    for (const { tenant, amount } of turns.shares) left -= take(amount, () => queues.firstOf(channel, tenant))
    left -= take(left, () => queues.first([channel]))
    const isShared = left <= 0 || full.some((one) => one.channel === channel)
    if (isShared && turns.last !== undefined) last[key] = turns.last
    return limit - left
  }

  function takeFrom(channel: string, limit: number): void {
    let left = limit
    for (const queue of queuesOf([channel])) if (left > 0) left -= takeTurns(queue, left)
  }

  function claim(): Claims {
    for (const [channel, limit] of Object.entries(limits)) takeFrom(channel, limit)
    const deliveries = leased.sort(inOrder).map(({ claimed }) => claimed)
    const claims = { deliveries, expired, ...(Object.keys(last).length > 0 && { last }) }
    if (expired.length >= MAX_EXPIRED) return { ...claims, nextDueInMs: 0 }
    const next = CLAIM_PRIORITIES.flatMap((priority) => all[priority].first(Object.keys(limits))?.wakeAt ?? [])
    return { ...claims, ...(next.length > 0 && { nextDueInMs: Math.max(0, Math.min(...next) - now) }) }
  }

  for (const queues of CLAIM_PRIORITIES.map((priority) => all[priority])) {
    for (const channel of queues.channels) firstDue(() => queues.first([channel]))
    for (const row of queues.expiredOf(busy, now))
      if (expired.length < MAX_EXPIRED && row.slot >= 0) expired.push(...expireDelivery(row, transitions))
  }
  const leftOut = { busy, full }
  return all[URGENT].without(leftOut, () => all[NORMAL].without(leftOut, claim))
}

function visitsOf(tenants: Iterable<Visit>): readonly Visit[] {
  const visits: Visit[] = []
  for (const visit of tenants) {
    if (visits.length >= MAX_TENANTS_VISITED) break
    visits.push(visit)
  }
  return visits
}

function inOrder(one: Leased, other: Leased): number {
  return one.priority - other.priority || one.dueAt - other.dueAt || one.slot - other.slot
}
