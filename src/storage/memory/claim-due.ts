import type { ClaimedDelivery, ClaimRequest, Claims } from '../../ports/dispatch-store.ts'
import { type Expired, expireDelivery, type Transitions } from '../rules/delivery-transitions.ts'
import { beginAttempt, claimedDelivery, type DeliveryRow } from '../rules/dispatch-rows.ts'
import type { ReceiverQueues } from './receiver-queues.ts'

/** About so many deliveries expire in one claim, so that no claim takes long. The claim then says that there are more. */
const MAX_EXPIRED = 1_000

/**
 * Leases due deliveries, earliest first. A channel at its limit says when its next delivery is due, even if that is now: the worker
 * has no free slot anyway.
 *
 * First it ends expired deliveries of all channels and receivers, also those that the worker does not ask for. It stops in each channel
 * at the first delivery that is not expired; what is due after that one expires in a later claim.
 */
export function claimDue(
  { leaseMs, limits, busy }: ClaimRequest,
  now: number,
  queues: ReceiverQueues<DeliveryRow>,
  transitions: Transitions,
  newFence: () => string,
): Claims {
  const deliveries: ClaimedDelivery[] = []
  const expired: Expired[] = []
  const left = new Map(Object.entries(limits))
  const open = new Set(left.keys())

  /** The first due delivery of these channels. Ends the expired ones before it. */
  function firstDue(channels: ReadonlySet<string> | readonly string[]): DeliveryRow | undefined {
    while (expired.length < MAX_EXPIRED) {
      const row = queues.first(channels)
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

  for (const channel of queues.channels) firstDue([channel])
  return queues.without(busy, () => {
    for (;;) {
      const row = firstDue(open)
      if (!row) break
      const more = left.get(row.channel) ?? 0
      if (more <= 0) open.delete(row.channel)
      // The lease expired while a cancellation was requested: cancel it, or queue it for the dispatches that still want it.
      else if (row.status === 'sending' && row.cancelledBy) transitions.queue(row, row.wakeAt)
      else {
        deliveries.push(lease(row))
        left.set(row.channel, more - 1)
      }
    }
    const next = queues.first(left.keys())
    if (expired.length >= MAX_EXPIRED) return { deliveries, expired, nextDueInMs: 0 }
    return { deliveries, expired, ...(next && { nextDueInMs: Math.max(0, next.wakeAt - now) }) }
  })
}
