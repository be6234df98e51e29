import type { DeliveryReason, DeliveryStatus } from '../../model/dispatch.ts'
import { copyJson } from '../../model/json.ts'
import type { SendLimit } from '../../ports/delivery-policy.ts'
import type { Claims, DeliveryChange, Settled, Settlement } from '../../ports/dispatch-store.ts'
import { changeOf } from './delivery-copies.ts'
import {
  type DeliveryRow,
  type DigestRow,
  type DispatchRow,
  endAttempt,
  ownersOf,
  takeBackAttempt,
} from './dispatch-rows.ts'
import type { SendLimits } from './send-limits.ts'

/** What a delivery ends as. */
export type EndedDelivery = 'sent' | 'failed' | 'skipped' | 'cancelled' | 'expired'

/** Where a store keeps its deliveries so that it finds them again: told of all that happens to one. */
export interface DeliveryPlaces {
  /** It is due, or its lease ends, then. */
  place(row: DeliveryRow, wakeAt: number): void
  /** It waits for no time any longer. */
  remove(row: DeliveryRow): void
  /** Its status, its lease or its digest is another one. */
  changed(row: DeliveryRow): void
  /** The delivery whose digest this one is to join: of several the one that was opened first. */
  openDigest(row: DeliveryRow, now: number): DeliveryRow | undefined
}

/** What can happen to a delivery. Each leaves its row, and where it is kept, in agreement. */
export interface Transitions {
  /** It waits until then, under no lease; unless it was to be cancelled as soon as it can be. */
  queue(row: DeliveryRow, dueAt: number): void
  /** It is `sending` under this fence, and due again when the lease is over. */
  lease(row: DeliveryRow, fence: string, until: number): void
  /** It waits for the channel before it to fail. */
  hold(row: DeliveryRow): void
  end(row: DeliveryRow, to: EndedDelivery, reason?: DeliveryReason): void
  /**
   * Cancels it for one of its dispatches; gives what is `cancelled` now, if anything is. Of a digest that is not rendered only
   * that one's events are taken out, into a record of its own. What is `sending`, or rendered for others too, keeps the wish.
   */
  cancel(row: DeliveryRow, dispatch: DispatchRow): DeliveryRow | undefined
  /** Counts one dispatch for a quota, where there is one; `false`, and nothing is counted: it is spent. */
  spend(tenant: string, quota: SendLimit | undefined, now: number): boolean
  /** Counts its limits and queues it; where one is spent it is `throttled` and this gives `false`. */
  admit(row: DeliveryRow, dueAt: number, now: number): boolean
  /** Queues the first held delivery whose limits are not spent. Gives what changed. */
  promote(dispatch: DispatchRow, dueAt: number, now: number): DeliveryChange[]
  /** Lets all held deliveries end. Gives what changed. */
  endHeld(dispatch: DispatchRow, to: EndedDelivery, reason?: DeliveryReason): DeliveryChange[]
}

/** The transitions of deliveries that are kept there, with these limits. */
export function transitions(places: DeliveryPlaces, limits: SendLimits): Transitions {
  function become(row: DeliveryRow, status: DeliveryStatus, reason?: DeliveryReason, fence?: string): void {
    row.status = status
    row.reason = reason
    row.fence = fence
    places.changed(row)
  }

  const moves: Transitions = {
    queue(row, dueAt) {
      places.place(row, dueAt)
      become(row, 'queued')
      row.cancelledBy?.forEach((dispatch) => void moves.cancel(row, dispatch))
    },
    lease(row, fence, until) {
      places.place(row, until)
      become(row, 'sending', undefined, fence)
    },
    hold(row) {
      places.remove(row)
      become(row, 'held')
    },
    end(row, to, reason) {
      places.remove(row)
      become(row, to, reason)
    },
    cancel(row, dispatch) {
      const { status, digest, content } = row
      if (!isOpenDelivery(status)) return undefined
      const others = digest?.events.filter((event) => event.dispatch !== dispatch) ?? []
      if (digest && others[0] && !content && status !== 'sending') {
        const record = recordOf(row, digest, dispatch)
        dispatch.deliveries[dispatch.deliveries.indexOf(row)] = record
        digest.events = others
        row.dispatch = others[0].dispatch
        row.cancelledBy?.delete(dispatch)
        places.changed(row)
        places.changed(record)
        return record
      }
      row.cancelledBy ??= new Set()
      row.cancelledBy.add(dispatch)
      if (status === 'sending' || !isUnwanted(row)) return undefined
      moves.end(row, 'cancelled')
      return row
    },
    spend: (tenant, quota, now) => !quota || limits.take(tenant, [quota], now),
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

/** Whether a delivery of that status may yet be sent. */
export function isOpenDelivery(status: DeliveryStatus): boolean {
  return status === 'queued' || status === 'sending' || status === 'held'
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
