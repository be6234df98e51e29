import type { Acceptance } from '../../ports/dispatch-store.ts'
import type { Places, Transitions } from './delivery-transitions.ts'
import { type DispatchRow, dispatchRow } from './dispatch-rows.ts'

/**
 * Makes the rows of a new dispatch, and lets those that are `queued` join a digest, wait, or be throttled. What stands in for
 * a throttled one is due when that one was to be. `undefined`, and nothing is changed: its quota is spent.
 */
export function acceptDispatch(
  { dispatch: given, expiresInMs, quota }: Acceptance,
  now: number,
  places: Places,
  moves: Transitions,
): DispatchRow | undefined {
  if (!moves.spend(given.tenant, quota, now)) return undefined
  const dispatch = dispatchRow(given, expiresInMs, now)
  const { deliveries, head } = dispatch
  for (const row of deliveries.filter(({ status }) => status === 'queued')) {
    const open = places.openDigest(row, now)
    if (open) {
      open.digest?.events.push(...(row.digest?.events ?? []))
      open.expiresAt = Math.max(open.expiresAt, row.expiresAt)
      places.changed(open)
      deliveries[deliveries.indexOf(row)] = open
    } else if (!moves.admit(row, row.wakeAt, now) && head.route === 'first') moves.promote(dispatch, row.wakeAt, now)
  }
  return dispatch
}
