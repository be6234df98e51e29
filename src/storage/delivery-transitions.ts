import type { DeliveryReason, DeliveryStatus } from '../model/dispatch.ts'
import type { DeliveryChange, LeaseProof } from '../ports/dispatch-store.ts'
import { copyJson } from './copy-json.ts'
import { changeOf } from './delivery-copies.ts'
import { type DeliveryRow, type DigestRow, type DispatchRow, ownersOf } from './dispatch-rows.ts'
import type { DueLanes } from './due-lanes.ts'
import type { OpenDigests } from './open-digests.ts'
import type { SendLimits } from './send-limits.ts'

type Ended = 'sent' | 'failed' | 'skipped' | 'cancelled' | 'expired'

/** What can happen to a delivery. Each leaves its row, the lanes and the open digests in agreement. */
export interface Transitions {
  /** It waits until then, under no lease; unless it was to be cancelled as soon as it can be. */
  queue(row: DeliveryRow, dueAt: number): void
  /** It is `sending`, and due again when the lease is over. Gives the fence. */
  lease(row: DeliveryRow, until: number): string
  /** The delivery that is `sending` under just this lease. */
  leased(lease: LeaseProof): DeliveryRow | undefined
  /** The lease it has lasts until then. */
  extend(row: DeliveryRow, until: number): void
  /** It waits for the channel before it to fail. */
  hold(row: DeliveryRow): void
  end(row: DeliveryRow, to: Ended, reason?: DeliveryReason): void
  /**
   * Cancels it for one of its dispatches; gives what is `cancelled` now, if anything is. Of a digest that is not rendered only
   * that one's events are taken out, into a record of its own. What is `sending`, or rendered for others too, keeps the wish.
   */
  cancel(row: DeliveryRow, dispatch: DispatchRow): DeliveryRow | undefined
  /** Counts its limits and queues it; where one is spent it is `throttled` and this gives `false`. */
  admit(row: DeliveryRow, dueAt: number, now: number): boolean
  /** Queues the first held delivery whose limits are not spent. Gives what changed. */
  promote(dispatch: DispatchRow, dueAt: number, now: number): DeliveryChange[]
  /** Lets all held deliveries end. Gives what changed. */
  endHeld(dispatch: DispatchRow, to: Ended, reason?: DeliveryReason): DeliveryChange[]
}

export function transitions(lanes: DueLanes<DeliveryRow>, digests: OpenDigests, limits: SendLimits): Transitions {
  const leases = new Map<string, DeliveryRow>()
  let fences = 0

  function become(row: DeliveryRow, status: DeliveryStatus, reason?: DeliveryReason): void {
    row.status = status
    row.reason = reason
    if (row.fence !== undefined) leases.delete(row.fence)
    row.fence = undefined
    digests.update(row)
  }

  const moves: Transitions = {
    queue(row, dueAt) {
      lanes.place(row, dueAt)
      become(row, 'queued')
      row.cancelledBy?.forEach((dispatch) => void moves.cancel(row, dispatch))
    },
    lease(row, until) {
      lanes.place(row, until)
      become(row, 'sending')
      row.fence = `${++fences}`
      leases.set(row.fence, row)
      return row.fence
    },
    leased({ deliveryId, fence }) {
      const row = leases.get(fence)
      return row?.deliveryId === deliveryId ? row : undefined
    },
    extend(row, until) {
      lanes.place(row, until)
    },
    hold(row) {
      lanes.remove(row)
      become(row, 'held')
    },
    end(row, to, reason) {
      lanes.remove(row)
      become(row, to, reason)
    },
    cancel(row, dispatch) {
      const { status, digest, content } = row
      if (status !== 'queued' && status !== 'held' && status !== 'sending') return undefined
      const others = digest?.events.filter((event) => event.dispatch !== dispatch) ?? []
      if (digest && others[0] && !content && status !== 'sending') {
        const record = recordOf(row, digest, dispatch)
        dispatch.deliveries[dispatch.deliveries.indexOf(row)] = record
        digest.events = others
        row.dispatch = others[0].dispatch
        row.cancelledBy?.delete(dispatch)
        digests.update(row)
        return record
      }
      row.cancelledBy ??= new Set()
      row.cancelledBy.add(dispatch)
      if (status === 'sending' || !isUnwanted(row)) return undefined
      moves.end(row, 'cancelled')
      return row
    },
    admit(row, dueAt, now) {
      const fits = !row.limits || limits.take(row.dispatch.head.tenant, row.limits, now)
      if (fits) moves.queue(row, dueAt)
      else moves.end(row, 'skipped', 'throttled')
      row.limits = undefined
      return fits
    },
    promote(dispatch, dueAt, now) {
      const changes: DeliveryChange[] = []
      for (const row of held(dispatch)) {
        const admitted = moves.admit(row, dueAt, now)
        changes.push(changeOf(row))
        if (admitted) break
      }
      return changes
    },
    endHeld(dispatch, to, reason) {
      return held(dispatch).map((row) => {
        moves.end(row, to, reason)
        return changeOf(row)
      })
    },
  }
  return moves
}

function held({ deliveries }: DispatchRow): readonly DeliveryRow[] {
  return deliveries.filter(({ status }) => status === 'held')
}

/** All whose it is have asked for its end. */
function isUnwanted(row: DeliveryRow): boolean {
  for (const owner of ownersOf(row)) if (!row.cancelledBy?.has(owner)) return false
  return true
}

/** What a dispatch keeps of a digest that it leaves, in the place of the delivery. */
function recordOf(row: DeliveryRow, digest: DigestRow, dispatch: DispatchRow): DeliveryRow {
  return {
    ...row,
    slot: -1,
    dispatch,
    status: 'cancelled',
    attemptLog: copyJson(row.attemptLog),
    digest: { ...digest, events: digest.events.filter((event) => event.dispatch === dispatch) },
  }
}
