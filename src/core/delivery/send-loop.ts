import type { ClaimedDelivery, Claims, DispatchStore } from '../../ports/dispatch-store.ts'
import { reportFault } from '../answers/report-fault.ts'
import { raceTimeout } from '../time-out.ts'
import { type AttemptDeps, type Attempted, attemptDelivery } from './attempt-delivery.ts'
import { reportDelivery } from './hooks.ts'
import { inFlight } from './in-flight.ts'
import { type Lease, STOPPING_MS } from './lease.ts'
import { createLimiter, type Slot } from './limiter.ts'
import { placeOf, putBack } from './settlements.ts'
import { swapRemoveList } from './swap-remove-list.ts'
import type { WorkerOptions } from './worker-options.ts'

/** What sending needs. */
export interface SendLoopDeps extends AttemptDeps {
  readonly store: DispatchStore
  /** Nothing is claimed, and nothing sent. */
  readonly sandbox?: boolean
}

/** What came of one claim. */
export interface Found {
  readonly expired: number
  /** Something was found, and there is more that is due now. */
  readonly isMore: boolean
  /** Milliseconds until another claim may find something, if the store knows. */
  readonly dueInMs?: number | undefined
}

/** `held`: nothing, but how long until something of what a rate holds up is due. */
export type ClaimOf = 'free' | 'held'

/** What a worker is sending. It lives from one stop to the next: a claim of an earlier life begins nothing. */
export interface SendLoop {
  readonly life: number
  /**
   * Begins what may be begun. One claim at a time, so that no two count on the same place. Rejects when the store does.
   *
   * @param onBegun Given each attempt, which rejects with what the store threw.
   * @param of Default: `free`.
   */
  claim(
    life: number,
    onBegun: (attempt: Promise<Attempted>, claimed: ClaimedDelivery) => void,
    of?: ClaimOf,
  ): Promise<Found>
  /** Everything else has just had its turn: a timer rang, or a call came in. */
  turned(): void
  /** Milliseconds until a rate lets more be sent; `undefined`: no rate holds anything up. */
  freeInMs(): number | undefined
  /** Resolves when the host was told of all that has ended. */
  reported(): Promise<void>
  /** Resolves when a place has become free, after `ms` milliseconds if given, or when it is stopped. */
  pause(ms: number | undefined): Promise<void>
  /**
   * Begins nothing more, and resolves when nothing is being sent and the host was told. What still is being sent after `graceMs`
   * is aborted; a second later it does not wait any longer for the store's claims or the host's hooks, and after one more for
   * nothing at all. Gives what it left undone.
   */
  stop(graceMs: number | undefined): Promise<Left>
}

/** Deliveries that a worker left undone when it stopped. */
export interface Left {
  /** Deliveries that it had claimed and put back unsent. */
  readonly givenBack: number
  /** Sends that it aborted. */
  readonly aborted: number
}

type ClaimArgs = Parameters<SendLoop['claim']>

/** Deliveries follow one another so long before everything else has its turn. */
const MAX_BUSY_MS = 20

const NOTHING: Found = { expired: 0, isMore: false }

/** @param onFree Called whenever a place has become free. */
export function createSending(deps: SendLoopDeps, options: WorkerOptions, onFree: () => void): SendLoop {
  const { leaseMs = 30_000, sendTimeoutMs: timeoutMs = 60_000 } = options
  const { store, clock, logger, sandbox } = deps
  const slots = createLimiter(deps.channels, options, clock)
  const stops = swapRemoveList<() => void>()
  const pausing = swapRemoveList<() => void>()
  const claims = inFlight()
  const attempts = inFlight()
  const publishing = inFlight()
  let turn: Promise<unknown> = Promise.resolve()
  let turnedAt = clock.now()
  let life = 0
  let left = { givenBack: 0, aborted: 0 }

  /** Channels that answer at once would keep the process from all else until nothing is due. */
  async function yieldToEventLoop(): Promise<void> {
    await new Promise<void>((resolve) => void clock.after(0, resolve, 'keepAlive'))
    turnedAt = clock.now()
  }

  async function claimNow(...[mine, onBegun, of]: ClaimArgs): Promise<Found> {
    if (clock.now() - turnedAt > MAX_BUSY_MS) await yieldToEventLoop()
    const { limits, busy } = of === 'held' ? slots.heldUp() : slots.request()
    if (mine !== life || sandbox || Object.keys(limits).length === 0) return NOTHING
    const lease = { since: clock.now(), ms: leaseMs }
    const { deliveries, expired, nextDueInMs } = await store.claim({ leaseMs, limits, busy })
    const surplus: ClaimedDelivery[] = []
    for (const claimed of deliveries) {
      const slot = mine === life ? slots.take(claimed) : undefined
      if (slot) begin(claimed, lease, slot, onBegun)
      else surplus.push(claimed)
    }
    if (expired.length > 0) publishing.keep(reportExpired(expired))
    if (mine !== life) left.givenBack += surplus.length
    await Promise.all(surplus.map(release))
    const hasFound = deliveries.length > surplus.length || expired.length > 0
    return { expired: expired.length, isMore: hasFound && nextDueInMs === 0, dueInMs: nextDueInMs }
  }

  function begin(claimed: ClaimedDelivery, lease: Lease, slot: Slot, onBegun: ClaimArgs[1]): void {
    if (claimed.reclaimed) logger.log('warn', 'delivery.reclaimed', { attempt: claimed.attempts, ...placeOf(claimed) })
    onBegun(attempt(claimed, lease, slot), claimed)
  }

  /** It leaves its place once it is written down: a hook that hangs holds up no other message. */
  function attempt(claimed: ClaimedDelivery, lease: Lease, slot: Slot): Promise<Attempted> {
    const options = { timeoutMs, stops, onSend: slot.begin }
    const begunIn = life
    const attempted = attemptDelivery(claimed, lease, deps, options).finally(slot.leave)
    attempted.then(({ result, reported }) => {
      if (result === 'released' && begunIn !== life) left.givenBack++
      if (reported) publishing.keep(reported)
      placeLeft()
    }, placeLeft)
    return attempts.keep(attempted)
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
      const line = { level: 'error', event: 'delivery.settle_failed' } as const
      reportFault(cause, { operation: 'store', deliveryId: claimed.deliveryId }, line, deps)
    }
  }

  async function reportExpired(expired: Claims['expired']): Promise<void> {
    const telling = expired.map(({ dispatch, ...change }) => {
      const { deliveryId, channel, attempts: attempt } = change
      logger.log('warn', 'delivery.expired', { deliveryId, dispatchId: dispatch.dispatchId, channel, attempt })
      return reportDelivery(change, dispatch, deps)
    })
    await Promise.all(telling)
  }

  async function allEnded(): Promise<void> {
    await claims.empty()
    await attempts.empty()
    await publishing.empty()
  }

  return {
    get life() {
      return life
    },
    claim(...args) {
      const found = claims.keep(turn.then(() => claimNow(...args)))
      turn = found.catch(() => {})
      return found
    },
    turned() {
      turnedAt = clock.now()
    },
    freeInMs: slots.freeInMs,
    reported: publishing.empty,
    pause: (ms) =>
      new Promise((resolve) => {
        let callOff = (): void => {}
        const wake = (): void => {
          leave()
          callOff()
          resolve()
        }
        const leave = pausing.add(wake)
        if (ms !== undefined) callOff = clock.after(ms, wake, 'keepAlive')
      }),
    async stop(graceMs = Number.POSITIVE_INFINITY) {
      life++
      const own = { givenBack: 0, aborted: 0 }
      left = own
      for (const wake of pausing) wake()
      const begun = [...stops]
      // What an earlier claim still brings is given back: those after another start need not wait for it.
      turn = Promise.resolve()
      if (graceMs === Number.POSITIVE_INFINITY) {
        await allEnded()
        return own
      }
      const callOff = clock.after(graceMs, () => {
        const going = new Set(stops)
        own.aborted = begun.filter((stop) => going.has(stop)).length
        for (const stop of begun) stop()
      })
      const inTime = await raceTimeout(allEnded(), graceMs + STOPPING_MS, clock)
      callOff()
      // What has been aborted only now is still to be written down.
      if (!inTime) await raceTimeout(attempts.empty(), STOPPING_MS, clock)
      return own
    },
  }
}
