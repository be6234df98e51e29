import type { ClaimedDelivery, Claims, DispatchStore } from '../../ports/dispatch-store.ts'
import { tellDelivery } from '../dispatch/hooks.ts'
import { describeCause } from '../fault.ts'
import { type AttemptDeps, type AttemptResult, attemptDelivery } from './attempt-delivery.ts'
import type { Lease } from './lease.ts'
import { roster } from './roster.ts'
import { type Slot, sendSlots } from './send-slots.ts'
import { putBack } from './settlements.ts'
import type { WorkerOptions } from './worker-options.ts'

/** What sending needs. */
export interface SendingDeps extends AttemptDeps {
  readonly store: DispatchStore
  /** Nothing is claimed, and nothing sent. */
  readonly sandbox?: boolean
}

/** What came of one claim. */
export interface Found {
  readonly expired: number
  /** Resolves when the host was told of what had expired. */
  readonly told: Promise<void>
  /** Something was found, and there is more that is due now. */
  readonly isMore: boolean
  /** Milliseconds until another claim may find something, if the store knows. */
  readonly dueInMs?: number | undefined
}

/** What a worker is sending. It lives from one stop to the next: a claim of an earlier life begins nothing. */
export interface Sending {
  readonly life: number
  /**
   * Begins what may be begun. One claim at a time, so that no two count on the same place. Rejects when the store does.
   *
   * @param onBegun Given each attempt, which rejects with what the store threw.
   */
  claim(life: number, onBegun: (attempt: Promise<AttemptResult>, claimed: ClaimedDelivery) => void): Promise<Found>
  /** Milliseconds until a rate lets more be sent; `undefined`: no rate holds anything up. */
  freeInMs(): number | undefined
  /** Resolves when a place has become free, after `ms` milliseconds if given, or when it is stopped. */
  pause(ms: number | undefined): Promise<void>
  /** Begins nothing more, and resolves when nothing is being sent; what still is after `graceMs` is aborted. */
  stop(graceMs: number | undefined): Promise<void>
}

const NOTHING: Found = { expired: 0, told: Promise.resolve(), isMore: false }

/** @param onFree Called whenever a place has become free. */
export function createSending(deps: SendingDeps, options: WorkerOptions, onFree: () => void): Sending {
  const { leaseMs = 30_000, sendTimeoutMs: timeoutMs = 60_000 } = options
  const { store, clock, logger, sandbox } = deps
  const slots = sendSlots(deps.channels, options, clock)
  const stops = roster<() => void>()
  const pausing = roster<() => void>()
  const waiting = roster<() => void>()
  let inHand = 0
  let turn: Promise<unknown> = Promise.resolve()
  let life = 0

  async function claimNow(of: number, onBegun: Parameters<Sending['claim']>[1]): Promise<Found> {
    const { limits, busy } = slots.request()
    if (of !== life || sandbox || Object.keys(limits).length === 0) return NOTHING
    const lease = { since: clock.now(), ms: leaseMs }
    const { deliveries, expired, nextDueInMs } = await store.claim({ leaseMs, limits, busy })
    const surplus: ClaimedDelivery[] = []
    for (const claimed of deliveries) {
      const slot = of === life ? slots.take(claimed) : undefined
      if (slot) onBegun(attempt(claimed, lease, slot), claimed)
      else surplus.push(claimed)
    }
    const told = keep(tellExpired(expired))
    await Promise.all(surplus.map(release))
    const hasFound = deliveries.length > surplus.length || expired.length > 0
    return { expired: expired.length, told, isMore: hasFound && nextDueInMs === 0, dueInMs: nextDueInMs }
  }

  function attempt(claimed: ClaimedDelivery, lease: Lease, slot: Slot): Promise<AttemptResult> {
    const options = { timeoutMs, stops, onSend: slot.begin }
    const result = attemptDelivery(claimed, lease, deps, options).finally(slot.leave)
    result.then(placeLeft, placeLeft)
    return keep(result)
  }

  function placeLeft(): void {
    for (const wake of pausing) wake()
    onFree()
  }

  /** Gives a delivery up at once. Should that fail, its lease ends. */
  async function release(claimed: ClaimedDelivery): Promise<void> {
    try {
      await store.settle(putBack(claimed, 0))
    } catch (cause) {
      logger.log('error', 'delivery.settle_failed', { deliveryId: claimed.deliveryId, ...describeCause(cause) })
    }
  }

  async function tellExpired(expired: Claims['expired']): Promise<void> {
    for (const { dispatch, ...change } of expired) {
      const { deliveryId, channel, attempts: attempt } = change
      logger.log('warn', 'delivery.expired', { deliveryId, dispatchId: dispatch.dispatchId, channel, attempt })
      await tellDelivery(change, dispatch, deps)
    }
  }

  function keep<T>(work: Promise<T>): Promise<T> {
    inHand++
    work.then(drop, drop)
    return work
  }

  function drop(): void {
    inHand--
    if (inHand === 0) for (const resolve of waiting) resolve()
  }

  async function nothingInHand(): Promise<void> {
    if (inHand === 0) return
    let leave = (): void => {}
    await new Promise<void>((resolve) => {
      leave = waiting.add(resolve)
    })
    leave()
  }

  return {
    get life() {
      return life
    },
    claim(of, onBegun) {
      const mine = turn.then(() => claimNow(of, onBegun))
      turn = mine.catch(() => {})
      return mine
    },
    freeInMs: slots.freeInMs,
    pause: (ms) =>
      new Promise((resolve) => {
        let callOff = (): void => {}
        const wake = (): void => {
          leave()
          callOff()
          resolve()
        }
        const leave = pausing.add(wake)
        if (ms !== undefined) callOff = clock.after(ms, wake)
      }),
    async stop(graceMs) {
      life++
      for (const wake of pausing) wake()
      const begun = [...stops]
      const abandon = (): void => {
        for (const stop of begun) stop()
      }
      const callOff = graceMs === undefined ? (): void => {} : clock.after(graceMs, abandon)
      await turn
      await nothingInHand()
      callOff()
    },
  }
}
