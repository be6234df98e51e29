import type { ClaimedDelivery, ClaimRequest, Claims } from '../../ports/dispatch-store.ts'
import { claimedDelivery } from '../rules/delivery-copies.ts'
import { type Expired, expireDelivery, type Transitions } from '../rules/delivery-transitions.ts'
import { beginAttempt, type DeliveryRow } from '../rules/dispatch-rows.ts'
import type { ReceiverQueues } from './receiver-queues.ts'

/** A claim finds about so many to be expired, so that none has to clear away a million; it then says that there are more. */
const EXPIRED_AT_ONCE = 1_000

/**
 * Leases what is due. A channel whose limit is used up has more now when its next is due: the worker is full there anyway.
 *
 * What is due and past its expiry is looked for first of all in every channel, named or not, among the busy receivers too: there
 * each is found once it is the earliest. What is before it was due before it, and expires as well if nobody sends it.
 */
export function claimDue(
  { leaseMs, limits, busy }: ClaimRequest,
  now: number,
  queues: ReceiverQueues<DeliveryRow>,
  moves: Transitions,
  newFence: () => string,
): Claims {
  const deliveries: ClaimedDelivery[] = []
  const expired: Expired[] = []
  const left = new Map(Object.entries(limits))
  const open = new Set(left.keys())

  /** The first of these that is due, once those before it that are past their expiry are out of the way. */
  function firstDue(channels: ReadonlySet<string> | readonly string[]): DeliveryRow | undefined {
    while (expired.length < EXPIRED_AT_ONCE) {
      const row = queues.first(channels)
      if (!row || row.wakeAt > now) return undefined
      if (row.expiresAt > now) return row
      expired.push(...expireDelivery(row, moves))
    }
    return undefined
  }

  function lease(row: DeliveryRow): ClaimedDelivery {
    const fence = newFence()
    const wasSending = row.status === 'sending'
    moves.lease(row, fence, now + leaseMs)
    beginAttempt(row, now)
    return claimedDelivery(row, fence, now, wasSending)
  }

  for (const channel of queues.channels) firstDue([channel])
  return queues.without(busy, () => {
    for (;;) {
      const row = firstDue(open)
      if (!row) break
      const more = left.get(row.channel) ?? 0
      if (more <= 0) open.delete(row.channel)
      // Its lease has ended without a word: what was to be cancelled is, and the rest is queued again.
      else if (row.status === 'sending' && row.cancelledBy) moves.queue(row, row.wakeAt)
      else {
        deliveries.push(lease(row))
        left.set(row.channel, more - 1)
      }
    }
    const next = queues.first(left.keys())
    if (expired.length >= EXPIRED_AT_ONCE) return { deliveries, expired, nextDueInMs: 0 }
    return { deliveries, expired, ...(next && { nextDueInMs: Math.max(0, next.wakeAt - now) }) }
  })
}
