import { copyJson } from '../../model/json.ts'
import type { DeliveryChange, Settled, Settlement } from '../../ports/dispatch-store.ts'
import { endAttempt, takeBackAttempt } from './attempt-log.ts'
import type { Transitions } from './delivery-transitions.ts'
import { type DeliveryRow, ownersOf } from './dispatch-rows.ts'

const ALONE: Settled = Object.freeze({ live: true, others: Object.freeze([]) })
const CANCELLED: Settled = Object.freeze({ live: true, others: Object.freeze([]), cancelled: true })

/**
 * Ends the lease of a delivery, and lets the held ones of its dispatch follow.
 *
 * @param now By the store's clock. Where that is known within bounds only: the earliest that it may be.
 * @param latest The latest that it may be: an attempt ended no later, unless the next one is due at once. Default: `now`.
 */
export function settleDelivery(
  row: DeliveryRow,
  settlement: Settlement,
  now: number,
  moves: Transitions,
  latest: number = now,
): Settled {
  const isDueNow = settlement.to === 'queued' && settlement.delayMs <= 0
  if (settlement.attempt) endAttempt(row, settlement.attempt, isDueNow ? now : latest)
  else takeBackAttempt(row)
  if (settlement.to === 'queued') {
    if (settlement.content) row.content = copyJson(settlement.content)
    moves.queue(row, now + settlement.delayMs)
    return row.status === 'cancelled' ? CANCELLED : ALONE
  }
  const sent = settlement.to === 'sent'
  if (sent) row.providerMessageId = settlement.attempt?.providerMessageId
  moves.end(row, settlement.to, sent ? undefined : settlement.reason)
  const others: DeliveryChange[] = []
  for (const dispatch of ownersOf(row)) {
    others.push(...(sent ? moves.endHeld(dispatch, 'skipped', 'fallback_unneeded') : moves.promote(dispatch, now, now)))
  }
  return others.length > 0 ? { live: true, others } : ALONE
}
