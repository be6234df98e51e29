import type { DeliveryReason, DeliveryStatus } from '../../model/dispatch.ts'
import type { DeliveryChange } from '../../model/dispatch-results.ts'
import { copyJson } from '../../model/json.ts'
import { isStoredWait, type StoredWait } from '../../model/waiting.ts'
import type { SendLimit } from '../../ports/delivery-policy.ts'
import type { Claims, Settled, Settlement } from '../../ports/dispatch-store.ts'
import { leaveDigest } from './digests.ts'
import {
  changeOf,
  type DeliveryRow,
  type DigestRow,
  type DispatchRow,
  endAttempt,
  ownersOf,
  takeBackAttempt,
} from './dispatch-rows.ts'

/** The final status of a delivery. */
export type EndedDelivery = 'sent' | 'failed' | 'skipped' | 'cancelled' | 'expired'

/** A store's indexes of deliveries. The store implements it; {@link Transitions} calls it. */
export interface DeliveryIndex {
  /** Sets `wakeAt` to the due time or the end of the lease, and `slot` to 0 or more. */
  schedule(row: DeliveryRow, wakeAt: number): void
  /** Sets `slot` to -1: the delivery waits for no time. */
  unschedule(row: DeliveryRow): void
  /** Called after the status or the lease of the delivery has changed. */
  update(row: DeliveryRow): void
  /** Called after events have joined or left a digest that waits. */
  resize(row: DeliveryRow): void
  /** The open digest that this delivery joins: the one that opened first. */
  openDigest(row: DeliveryRow, now: number): DeliveryRow | undefined
}

/** State transitions of deliveries. Each changes the row and the {@link DeliveryIndex}. */
export interface Transitions {
  /** Queues a delivery until `dueAt` and ends its lease. Cancels it instead if a cancellation was requested. */
  queue(row: DeliveryRow, dueAt: number, waitsFor?: StoredWait): void
  /** Makes a delivery `sending` under a fencing token. It is due again when the lease expires. */
  lease(row: DeliveryRow, fence: string, until: number): void
  /** Holds a delivery until the preceding channel fails. */
  hold(row: DeliveryRow): void
  end(row: DeliveryRow, to: EndedDelivery, reason?: DeliveryReason): void
  /**
   * Cancels a delivery for one of its dispatches. Returns the row that is now `cancelled`, if any. Removes only the events of that
   * dispatch from an unrendered digest, into a new row. Keeps the request if the delivery is `sending` or rendered for other dispatches
   * too.
   */
  cancel(row: DeliveryRow, dispatch: DispatchRow): DeliveryRow | undefined
  /** Counts one dispatch for all quotas. Returns `false` and counts nothing if one is spent. */
  spend(tenant: string, quotas: readonly SendLimit[] | undefined, now: number): boolean
  /**
   * Counts the limits of a delivery and queues it. Returns `false` if a limit is spent: the delivery is then `skipped` as `throttled`.
   */
  admit(row: DeliveryRow, dueAt: number, now: number): boolean
  /** Queues the first held delivery whose limits are not spent. Returns all changes. */
  promote(dispatch: DispatchRow, dueAt: number, now: number): DeliveryChange[]
  /** Ends all held deliveries. Returns the changes. */
  endHeld(dispatch: DispatchRow, to: EndedDelivery, reason?: DeliveryReason): DeliveryChange[]
}

/** Transitions over a store's delivery index and rate limits. */
export function deliveryTransitions(index: DeliveryIndex, limits: SendLimits): Transitions {
  function setStatus(row: DeliveryRow, status: DeliveryStatus, reason?: DeliveryRow['reason'], fence?: string): void {
    row.status = status
    row.reason = reason
    row.fence = fence
    index.update(row)
  }

  const transitions: Transitions = {
    queue(row, dueAt, waitsFor) {
      index.schedule(row, dueAt)
      setStatus(row, 'queued', waitsFor)
      row.cancelledBy?.forEach((dispatch) => void transitions.cancel(row, dispatch))
    },
    lease(row, fence, until) {
      index.schedule(row, until)
      setStatus(row, 'sending', undefined, fence)
    },
    hold(row) {
      index.unschedule(row)
      setStatus(row, 'held')
    },
    end(row, to, reason) {
      index.unschedule(row)
      setStatus(row, to, reason)
    },
    cancel(row, dispatch) {
      const { status, digest, content } = row
      if (!isOpenDelivery(status)) return undefined
      if (digest && !content && status !== 'sending') {
        const record = cancelledPart(row, digest, dispatch)
        if (leaveDigest(row, digest, dispatch)) {
          dispatch.deliveries[dispatch.deliveries.indexOf(row)] = record
          index.resize(row)
          index.update(record)
          return record
        }
      }
      row.cancelledBy ??= new Set()
      row.cancelledBy.add(dispatch)
      if (status === 'sending' || !isCancelledByAll(row)) return undefined
      transitions.end(row, 'cancelled')
      return row
    },
    spend: (tenant, quotas, now) => !quotas || limits.take(tenant, quotas, now),
    admit(row, dueAt, now) {
      const fits = !row.limits || limits.take(row.dispatch.head.tenant, row.limits, now)
      if (fits) transitions.queue(row, dueAt, isStoredWait(row.reason) ? row.reason : undefined)
      else transitions.end(row, 'skipped', 'throttled')
      row.limits = undefined
      return fits
    },
    promote(dispatch, dueAt, now) {
      const changes: DeliveryChange[] = []
      for (const row of heldDeliveries(dispatch)) {
        const admitted = transitions.admit(row, dueAt, now)
        changes.push(changeOf(row))
        if (admitted) break
      }
      return changes
    },
    endHeld(dispatch, to, reason) {
      return heldDeliveries(dispatch).map((row) => {
        transitions.end(row, to, reason)
        return changeOf(row)
      })
    },
  }
  return transitions
}

export function isOpenDelivery(status: DeliveryStatus): boolean {
  return status === 'queued' || status === 'sending' || status === 'held'
}

function heldDeliveries({ deliveries }: DispatchRow): readonly DeliveryRow[] {
  return deliveries.filter(({ status }) => status === 'held')
}

function isCancelledByAll(row: DeliveryRow): boolean {
  for (const owner of ownersOf(row)) if (!row.cancelledBy?.has(owner)) return false
  return true
}

/** The row of a dispatch that leaves a digest: `cancelled`, with its own events. */
function cancelledPart(row: DeliveryRow, digest: DigestRow, dispatch: DispatchRow): DeliveryRow {
  const events = digest.events.filter((event) => event.dispatch === dispatch)
  return {
    ...row,
    slot: -1,
    dispatch,
    status: 'cancelled',
    reason: undefined,
    attemptLog: copyJson(row.attemptLog),
    digest: { ...digest, size: events.length, events },
  }
}

const ALONE: Settled = Object.freeze({ live: true, others: Object.freeze([]) })
const CANCELLED: Settled = Object.freeze({ live: true, others: Object.freeze([]), cancelled: true })

/**
 * Ends the lease of a delivery, then queues or skips held deliveries of its dispatches.
 * @param now The store's clock; its lower bound if the time is known only within bounds.
 * @param latest Upper bound of the clock: the end of the attempt, unless the next attempt is due at once. Default: `now`.
 */
export function settleDelivery(
  row: DeliveryRow,
  settlement: Settlement,
  now: number,
  transitions: Transitions,
  latest: number = now,
): Settled {
  const isDueNow = settlement.to === 'queued' && settlement.delayMs <= 0
  if (settlement.attempt) endAttempt(row, settlement.attempt, isDueNow ? now : latest)
  else takeBackAttempt(row)
  if (settlement.to === 'queued') {
    if (settlement.content) row.content = copyJson(settlement.content)
    transitions.queue(row, now + settlement.delayMs, settlement.waitsFor)
    return row.status === 'cancelled' ? CANCELLED : ALONE
  }
  const sent = settlement.to === 'sent'
  if (sent) row.providerMessageId = settlement.attempt?.providerMessageId
  transitions.end(row, settlement.to, sent ? undefined : settlement.reason)
  const others: DeliveryChange[] = []
  const isOver = sent && row.bouncedAttempt !== row.attempts
  for (const dispatch of ownersOf(row)) {
    const changes = isOver
      ? transitions.endHeld(dispatch, 'skipped', 'fallback_unneeded')
      : transitions.promote(dispatch, now, now)
    others.push(...changes)
  }
  return others.length > 0 ? { live: true, others } : ALONE
}

/** An expired delivery as a claim reports it. */
export type Expired = Claims['expired'][number]

/** Ends an expired delivery and the held deliveries of its dispatches. Returns all of them. */
export function expireDelivery(row: DeliveryRow, transitions: Transitions): Expired[] {
  transitions.end(row, 'expired')
  return endedWith(row, (dispatch) => transitions.endHeld(dispatch, 'expired'))
}

/** Ends a delivery that cannot be sent, because a record of it is damaged, and promotes its fallbacks. Returns all that changed. */
export function failDamaged(row: DeliveryRow, now: number, transitions: Transitions): Expired[] {
  transitions.end(row, 'failed', 'record_unreadable')
  return endedWith(row, (dispatch) => transitions.promote(dispatch, now, now))
}

/** An ended delivery, and those of its dispatches that change with it. */
function endedWith(row: DeliveryRow, changeOthers: (dispatch: DispatchRow) => readonly DeliveryChange[]): Expired[] {
  const changed: Expired[] = [{ ...changeOf(row), dispatch: { ...row.dispatch.head } }]
  for (const dispatch of ownersOf(row))
    for (const change of changeOthers(dispatch)) changed.push({ ...change, dispatch: { ...dispatch.head } })
  return changed
}

/** Times at which deliveries were queued under one limit key. */
export interface Counter {
  readonly tenant: string
  readonly name: string
  /** The newest `max` times, oldest first: enough for an exact sliding window. */
  readonly times: number[]
  max: number
  windowMs: number
}

/** Counters that a store keeps. */
export interface Counters {
  /** The counter of a name. May be missing once its window has passed. */
  find(tenant: string, name: string, now: number): Counter | undefined
  /** Keeps a new or changed counter until its window has passed. */
  keep(counter: Counter, now: number): void
}

/** Exact sliding-window rate limits. */
export interface SendLimits {
  /** Counts one for each limit. Returns `false` and counts nothing if any limit is spent. */
  take(tenant: string, limits: readonly SendLimit[], now: number): boolean
}

/** Rate limits over a store's counters: at most `max` in any window. */
export function sendLimits(counters: Counters): SendLimits {
  return {
    take(tenant, limits, now) {
      const taken = new Map<string, Counter>()
      for (const { key: name, max, windowMs } of limits) {
        const counter = taken.get(name) ??
          counters.find(tenant, name, now) ?? { tenant, name, times: [], max, windowMs }
        const oldest = counter.times.at(-max)
        if (oldest !== undefined && oldest > now - windowMs) return false
        counter.max = Math.max(counter.max, max)
        counter.windowMs = Math.max(counter.windowMs, windowMs)
        taken.set(name, counter)
      }
      for (const counter of taken.values()) {
        counter.times.push(now)
        while (counter.times.length > counter.max) counter.times.shift()
        counters.keep(counter, now)
      }
      return true
    },
  }
}
