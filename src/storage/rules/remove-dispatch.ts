import { isOpenDelivery } from './delivery-transitions.ts'
import type { DispatchRow } from './dispatch-rows.ts'

/** Whether something of it may yet be sent. */
export function isOpenDispatch({ deliveries }: DispatchRow): boolean {
  return deliveries.some(({ status }) => isOpenDelivery(status))
}

/** Takes a dispatch of which nothing is open out of the digests that it shares with others: these keep the rest. */
export function leaveDigests(dispatch: DispatchRow): void {
  for (const row of dispatch.deliveries) {
    const others = row.digest?.events.filter((event) => event.dispatch !== dispatch) ?? []
    if (!row.digest || !others[0]) continue
    row.digest.events = others
    row.dispatch = others[0].dispatch
    row.cancelledBy?.delete(dispatch)
  }
}
