import { withTimeout } from '../../model/time-out.ts'
import type { ClaimedDelivery, Claims, DispatchStore } from '../../ports/dispatch-store.ts'
import { reportFault } from '../answers/report-fault.ts'
import { type AttemptDeps, type Attempted, attemptDelivery } from './attempt.ts'
import { reportDelivery } from './hooks.ts'
import { type Lease, placeOf, putBack, STOPPING_MS } from './lease.ts'
import { createLimiter, type Slot } from './limiter.ts'
import type { WorkerOptions } from './worker-options.ts'

/** What {@link createSendLoop} needs. */
export interface SendLoopDeps extends AttemptDeps {
  readonly store: DispatchStore
  /** Claims and sends nothing. */
  readonly sandbox?: boolean
}

/** The result of one claim. */
export interface ClaimOutcome {
  readonly expired: number
  /** Deliveries were found, and more are due now. */
  readonly isMore: boolean
  /** Milliseconds until another claim may find deliveries, if the store knows. */
  readonly dueInMs?: number | undefined
}

/** `free`: claims for all free slots. `rate-limited`: claims nothing, and asks when a delivery of a rate-limited channel is due. */
export type ClaimKind = 'free' | 'rate-limited'

/** The deliveries in flight of one worker. Each stop starts a new generation: a claim of an earlier generation starts no send. */
export interface SendLoop {
  readonly generation: number
  /**
   * Claims deliveries and starts their attempts. One claim runs at a time, so that no two use the same slot. Rejects when the store does.
   *
   * @param onStart Receives each attempt, which rejects with the error of the store.
   * @param kind Default: `free`.
   */
  claim(
    generation: number,
    onStart: (attempt: Promise<Attempted>, claimed: ClaimedDelivery) => void,
    kind?: ClaimKind,
  ): Promise<ClaimOutcome>
  /** Records that the event loop has just run other work. */
  yielded(): void
  /** Milliseconds until a rate limit allows another send; `undefined`: no rate limit holds one back. */
  freeInMs(): number | undefined
  /** Resolves when all hooks of ended attempts have ended. */
  reported(): Promise<void>
  /** Resolves when a slot is free, after `ms` milliseconds if given, or on stop. */
  pause(ms: number | undefined): Promise<void>
  /**
   * Starts nothing more, and resolves when no attempt and no hook is in flight. After `graceMs`, sends are aborted. One second later it
   * stops waiting for claims and hooks, and after one more second for everything. Gives the unfinished work.
   */
  stop(graceMs: number | undefined): Promise<Unfinished>
}

/** Deliveries that a stopped worker did not finish. */
export interface Unfinished {
  /** Deliveries claimed and queued again, unsent. */
  readonly givenBack: number
  /** Sends aborted. */
  readonly aborted: number
}

type ClaimArgs = Parameters<SendLoop['claim']>

/** Longest time without a turn for other work of the event loop. */
const MAX_BUSY_MS = 20

const NOTHING: ClaimOutcome = { expired: 0, isMore: false }

/** @param onFree Called whenever a slot is free again. */
export function createSendLoop(deps: SendLoopDeps, options: WorkerOptions, onFree: () => void): SendLoop {
  const { leaseMs = 30_000, sendTimeoutMs: timeoutMs = 60_000 } = options
  const { store, clock, logger, sandbox } = deps
  const limiter = createLimiter(deps.channels, options, clock)
  const stops = swapRemoveList<() => void>()
  const pauses = swapRemoveList<() => void>()
  const claims = inFlight()
  const attempts = inFlight()
  const hooks = inFlight()
  let lastClaim: Promise<unknown> = Promise.resolve()
  let yieldedAt = clock.now()
  let generation = 0
  let unfinished = { givenBack: 0, aborted: 0 }

  /** Lets other work run: channels that answer at once would block the event loop until nothing is due. */
  async function yieldToEventLoop(): Promise<void> {
    await new Promise<void>((resolve) => void clock.after(0, resolve, 'keepAlive'))
    yieldedAt = clock.now()
  }

  async function claimNow(...[mine, onStart, kind]: ClaimArgs): Promise<ClaimOutcome> {
    if (clock.now() - yieldedAt > MAX_BUSY_MS) await yieldToEventLoop()
    const { limits, busy } = kind === 'rate-limited' ? limiter.rateLimited() : limiter.request()
    if (mine !== generation || sandbox || Object.keys(limits).length === 0) return NOTHING
    const lease = { since: clock.now(), ms: leaseMs }
    const { deliveries, expired, nextDueInMs } = await store.claim({ leaseMs, limits, busy })
    const surplus: ClaimedDelivery[] = []
    for (const claimed of deliveries) {
      const slot = mine === generation ? limiter.take(claimed) : undefined
      if (slot) start(claimed, lease, slot, onStart)
      else surplus.push(claimed)
    }
    if (expired.length > 0) hooks.add(reportExpired(expired))
    if (mine !== generation) unfinished.givenBack += surplus.length
    await Promise.all(surplus.map(giveBack))
    const hasFound = deliveries.length > surplus.length || expired.length > 0
    return { expired: expired.length, isMore: hasFound && nextDueInMs === 0, dueInMs: nextDueInMs }
  }

  function start(claimed: ClaimedDelivery, lease: Lease, slot: Slot, onStart: ClaimArgs[1]): void {
    if (claimed.reclaimed) logger.log('warn', 'delivery.reclaimed', { attempt: claimed.attempts, ...placeOf(claimed) })
    onStart(attempt(claimed, lease, slot), claimed)
  }

  /** Frees its slot once the result is stored: a hook that hangs blocks no other message. */
  function attempt(claimed: ClaimedDelivery, lease: Lease, slot: Slot): Promise<Attempted> {
    const startedIn = generation
    const options = { timeoutMs, stops, onSend: slot.begin }
    const attempted = attemptDelivery(claimed, lease, deps, options).finally(slot.leave)
    attempted.then(({ result, reported }) => {
      if (result === 'released' && startedIn !== generation) unfinished.givenBack++
      if (reported) hooks.add(reported)
      slotFreed()
    }, slotFreed)
    return attempts.add(attempted)
  }

  function slotFreed(): void {
    for (const resume of pauses) resume()
    onFree()
  }

  /** Queues a delivery again at once. If that fails, its lease expires. */
  async function giveBack(claimed: ClaimedDelivery): Promise<void> {
    try {
      await store.settle(putBack(claimed, 0))
    } catch (cause) {
      const line = { level: 'error', event: 'delivery.settle_failed' } as const
      reportFault(cause, { operation: 'store', deliveryId: claimed.deliveryId }, line, deps)
    }
  }

  async function reportExpired(expired: Claims['expired']): Promise<void> {
    const reports = expired.map(({ dispatch, ...change }) => {
      const { deliveryId, channel, attempts: attempt } = change
      logger.log('warn', 'delivery.expired', { deliveryId, dispatchId: dispatch.dispatchId, channel, attempt })
      return reportDelivery(change, dispatch, deps)
    })
    await Promise.all(reports)
  }

  async function allEnded(): Promise<void> {
    await claims.empty()
    await attempts.empty()
    await hooks.empty()
  }

  return {
    get generation() {
      return generation
    },
    claim(...args) {
      const outcome = claims.add(lastClaim.then(() => claimNow(...args)))
      lastClaim = outcome.catch(() => {})
      return outcome
    },
    yielded() {
      yieldedAt = clock.now()
    },
    freeInMs: limiter.freeInMs,
    reported: hooks.empty,
    pause: (ms) =>
      new Promise((resolve) => {
        let cancelTimer = (): void => {}
        const resume = (): void => {
          remove()
          cancelTimer()
          resolve()
        }
        const remove = pauses.add(resume)
        if (ms !== undefined) cancelTimer = clock.after(ms, resume, 'keepAlive')
      }),
    async stop(graceMs = Number.POSITIVE_INFINITY) {
      generation++
      const own = { givenBack: 0, aborted: 0 }
      unfinished = own
      for (const resume of pauses) resume()
      const atStop = [...stops]
      // A claim that is under way gives its deliveries back: claims after the next start need not wait for it.
      lastClaim = Promise.resolve()
      if (graceMs === Number.POSITIVE_INFINITY) {
        await allEnded()
        return own
      }
      const cancelAbort = clock.after(graceMs, () => {
        const going = new Set(stops)
        own.aborted = atStop.filter((stop) => going.has(stop)).length
        for (const stop of atStop) stop()
      })
      // Sends that ended only by the abort have one more second to be stored.
      const waitForSettlements = (): Promise<void> =>
        withTimeout(attempts.empty(), { ms: STOPPING_MS, clock, fallback: () => {} })
      await withTimeout(allEnded(), { ms: graceMs + STOPPING_MS, clock, fallback: waitForSettlements })
      cancelAbort()
      return own
    },
  }
}

/** Promises in flight. */
interface InFlight {
  /** Counts a promise until it settles, and returns it. */
  add<T>(work: Promise<T>): Promise<T>
  /** Resolves when none is in flight. */
  empty(): Promise<void>
}

function inFlight(): InFlight {
  let count = 0
  let waiting: (() => void)[] = []

  function settled(): void {
    count--
    if (count > 0) return
    for (const resolve of waiting) resolve()
    waiting = []
  }

  return {
    add(work) {
      count++
      work.then(settled, settled)
      return work
    },
    async empty() {
      if (count > 0) await new Promise<void>((resolve) => waiting.push(resolve))
    },
  }
}

/**
 * A list with swap-remove: removing a member moves the last one to its place. For thousands of short-lived members: a `Set` allocates a
 * new table every few changes, and the old tables keep removed members alive past the young generation of the garbage collector.
 */
export interface SwapRemoveList<T> extends Iterable<T> {
  /** Adds a member and returns the function that removes it; further calls do nothing. */
  add(member: T): () => void
}

export function swapRemoveList<T>(): SwapRemoveList<T> {
  const entries: { readonly member: T; at: number }[] = []
  return {
    add(member) {
      const entry = { member, at: entries.length }
      entries.push(entry)
      return () => {
        if (entry.at < 0) return
        const last = entries.pop()
        if (last && last !== entry) {
          entries[entry.at] = last
          last.at = entry.at
        }
        entry.at = -1
      }
    },
    [Symbol.iterator]: () => entries.map(({ member }) => member)[Symbol.iterator](),
  }
}
