import type { Acceptance } from '../../ports/dispatch-store.ts'
import type { DeliveryPlaces, Transitions } from './delivery-transitions.ts'
import { type DeliveryRow, type DispatchRow, dispatchRow } from './dispatch-rows.ts'

/** Makes the rows of a new dispatch, and admits those that are `queued`. `undefined`, and nothing is changed: its quota is spent. */
export function acceptDispatch(
  { dispatch: given, expiresInMs, quota }: Acceptance,
  now: number,
  places: DeliveryPlaces,
  moves: Transitions,
): DispatchRow | undefined {
  if (!moves.spend(given.tenant, quota, now)) return undefined
  const dispatch = dispatchRow(given, expiresInMs, now)
  const queued = dispatch.deliveries.filter(({ status }) => status === 'queued')
  admitDeliveries(dispatch, queued, now, places, moves)
  return dispatch
}

/**
 * Lets deliveries of a dispatch join the digests that are open for them; the others wait until they are due, or are throttled.
 * With the route `first`, the fallback of a throttled one is due when that one was to be.
 */
export function admitDeliveries(
  dispatch: DispatchRow,
  rows: readonly DeliveryRow[],
  now: number,
  places: DeliveryPlaces,
  moves: Transitions,
): void {
  const { deliveries, head } = dispatch
  for (const row of rows) {
    const open = places.openDigest(row, now)
    if (open) {
      open.digest?.events.push(...(row.digest?.events ?? []))
      open.expiresAt = Math.max(open.expiresAt, row.expiresAt)
      places.changed(open)
      deliveries[deliveries.indexOf(row)] = open
    } else if (!moves.admit(row, row.wakeAt, now) && head.route === 'first') moves.promote(dispatch, row.wakeAt, now)
  }
}
