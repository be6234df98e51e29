import type { ClaimedDelivery, ClaimRequest, Claims } from '../ports/dispatch-store.ts'
import { beginAttempt } from './attempt-log.ts'
import { changeOf, claimedDelivery } from './delivery-copies.ts'
import type { Transitions } from './delivery-transitions.ts'
import { type DeliveryRow, ownersOf } from './dispatch-rows.ts'
import type { DueLanes } from './due-lanes.ts'

type Expired = Claims['expired'][number]

/** A claim finds at most so many to be expired, so that none has to clear away a million; it then says that there are more. */
const EXPIRED_AT_ONCE = 1_000

/**
 * Leases what is due. A channel whose limit is used up has more now when its next is due: the worker is full there anyway. One
 * with no limit left to begin with counts as not named.
 */
export function claimDue(
  { leaseMs, limits, busy }: ClaimRequest,
  now: number,
  lanes: DueLanes<DeliveryRow>,
  moves: Transitions,
): Claims {
  const deliveries: ClaimedDelivery[] = []
  const expired: Expired[] = []
  const left = new Map(Object.entries(limits).filter(([, limit]) => limit > 0))
  const asked = [...left.keys()]

  function lease(row: DeliveryRow): ClaimedDelivery {
    const fence = moves.lease(row, now + leaseMs)
    beginAttempt(row, now)
    return claimedDelivery(row, fence, now)
  }

  return lanes.without(busy, () => {
    while (expired.length < EXPIRED_AT_ONCE) {
      const row = lanes.first(left.keys())
      if (!row || row.wakeAt > now) break
      const more = left.get(row.channel) ?? 0
      if (row.expiresAt <= now) expired.push(...expire(row, moves))
      else if (more === 0) left.delete(row.channel)
      else {
        deliveries.push(lease(row))
        left.set(row.channel, more - 1)
      }
    }
    const next = lanes.first(asked)
    return { deliveries, expired, ...(next && { nextDueInMs: Math.max(0, next.wakeAt - now) }) }
  })
}

function expire(row: DeliveryRow, moves: Transitions): Expired[] {
  moves.end(row, 'expired')
  const expired: Expired[] = [{ ...changeOf(row), dispatch: { ...row.dispatch.head } }]
  for (const dispatch of ownersOf(row)) {
    for (const change of moves.endHeld(dispatch, 'expired')) expired.push({ ...change, dispatch: { ...dispatch.head } })
  }
  return expired
}
