import type { Claims } from '../../ports/dispatch-store.ts'
import { changeOf } from './delivery-copies.ts'
import type { Transitions } from './delivery-transitions.ts'
import { type DeliveryRow, ownersOf } from './dispatch-rows.ts'

/** A delivery that has expired, as a claim tells of it. */
export type Expired = Claims['expired'][number]

/** Lets a delivery that is past its expiry end, and the held ones of its dispatches with it. Gives all that did. */
export function expireDelivery(row: DeliveryRow, moves: Transitions): Expired[] {
  moves.end(row, 'expired')
  const expired: Expired[] = [{ ...changeOf(row), dispatch: { ...row.dispatch.head } }]
  for (const dispatch of ownersOf(row)) {
    for (const change of moves.endHeld(dispatch, 'expired')) expired.push({ ...change, dispatch: { ...dispatch.head } })
  }
  return expired
}
