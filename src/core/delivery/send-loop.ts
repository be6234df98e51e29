import { withTimeout } from '../../model/time-out.ts'
import type { ClaimedDelivery, ClaimRequest, DispatchStore, Settlement } from '../../ports/dispatch-store.ts'
import { limitLines } from '../answers/line-limiter.ts'
import { reportFault } from '../answers/report-fault.ts'
import { wake } from '../wake.ts'
import { type AttemptDeps, attemptDelivery } from './attempt.ts'
import type { Attempted } from './attempt-report.ts'
import { inFlight } from './in-flight.ts'
import { type Lease, STOPPING_MS } from './lease.ts'
import { createLimiter, type Slot } from './limiter.ts'
import { attemptFields } from './log-fields.ts'
import { receiverBreaker } from './receiver-breaker.ts'
import { reportEnded } from './report-ended.ts'
import { putBack, type Queued } from './settlement.ts'
import { swapRemoveList } from './swap-remove-list.ts'
import type { WorkerOptions } from './worker-options.ts'

/** Time between log lines of one channel that has no connection. */
const UNREACHABLE_MS = 60_000

/** Time between log lines of one guard or link that this worker lacks. */
const MISSING_PLUGIN_MS = 60_000

export interface SendLoopDeps extends AttemptDeps {
  readonly store: DispatchStore
  readonly sandbox?: boolean
}

export interface ClaimOutcome {
  readonly expired: number
  /** Deliveries were found, and more are due now. */
  readonly isMore: boolean
  /** The claim found nothing, although the store reports more. */
  readonly isEmpty?: boolean
  /** Tenants at their share were left out: the next claim may find deliveries of others. */
  readonly isShared?: boolean
  /** Milliseconds until another claim may find deliveries, if known. */
  readonly dueInMs?: number | undefined
}

/** `free`: claims for all free slots. `rate-limited`: claims nothing, and returns the due time of rate-limited channels. */
export type ClaimKind = 'free' | 'rate-limited'

/** Deliveries in flight of one worker. Each stop starts a new generation: a claim of an earlier generation starts no send. */
export interface SendLoop {
  readonly generation: number
  /**
   * Claims deliveries and starts their attempts. Claims run one at a time, so that no two use the same slot. Rejects with errors of
   * the store.
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
  freeInMs(): number | undefined
  /** Milliseconds until the pause of a receiver ends; `undefined`: none is paused. */
  probesInMs(): number | undefined
  /** Resolves when all hooks of ended attempts have ended. */
  reported(): Promise<void>
  /** Resolves when a slot is free, after `ms` milliseconds if given, or on stop. */
  pause(ms: number | undefined): Promise<void>
  /** Starts no more sends, and resolves when no attempt and no hook is in flight, or after the stages of `StopOptions.graceMs`. */
  stop(graceMs: number | undefined): Promise<Unfinished>
}

export interface Unfinished {
  /** Deliveries claimed and queued again, unsent. */
  readonly givenBack: number
  readonly aborted: number
}

type ClaimArgs = Parameters<SendLoop['claim']>

/** Longest time without yielding to the event loop. */
const MAX_BUSY_MS = 20

const NOTHING: ClaimOutcome = { expired: 0, isMore: false }

/** @param onFree Called whenever a slot is free again. */
export function createSendLoop(deps: SendLoopDeps, options: WorkerOptions, onFree: () => void): SendLoop {
  const { leaseMs = 30_000, sendTimeoutMs: timeoutMs = 60_000 } = options
  const { store, clock, logger, sandbox } = deps
  const limiter = createLimiter(deps.channels, options, clock)
  const breaker = receiverBreaker(options.breaker, deps)
  const unreachable = limitLines(UNREACHABLE_MS)
  const missingPlugins = limitLines(MISSING_PLUGIN_MS)
  const stops = swapRemoveList<() => void>()
  const pauses = swapRemoveList<() => void>()
  const claims = inFlight()
  const attempts = inFlight(slotFreed)
  const hooks = inFlight()
  let lastClaim: Promise<unknown> = Promise.resolve()
  let yieldedAt = clock.now()
  let generation = 0
  /** Cursors of the tenants' turns, by channel. */
  let after: NonNullable<ClaimRequest['after']> = {}
  let unfinished = { givenBack: 0, aborted: 0 }

  async function claimNow(...[mine, onStart, kind]: ClaimArgs): Promise<ClaimOutcome> {
    if (clock.now() - yieldedAt > MAX_BUSY_MS) await yieldToEventLoop()
    const wanted = askedFor(kind)
    if (mine !== generation || sandbox || Object.keys(wanted.limits).length === 0) return NOTHING
    const lease = { since: clock.now(), ms: leaseMs }
    const { deliveries, expired, unreadable = [], nextDueInMs, last } = await store.claim({ leaseMs, ...wanted, after })
    after = { ...after, ...last }
    const { paused, surplus } = startAll(deliveries, lease, mine, onStart)
    const ended = [...expired, ...unreadable]
    if (ended.length > 0) hooks.add(reportEnded(ended, deps))
    if (mine !== generation) unfinished.givenBack += surplus.length
    await Promise.all([...paused, ...surplus].map(giveBack))
    for (const delayMs of new Set(paused.map((one) => one.delayMs))) wake(deps.queue, deps, delayMs)
    const hasFound = deliveries.length > surplus.length || ended.length > 0
    const isMore = hasFound && nextDueInMs === 0
    const isEmpty = !hasFound && nextDueInMs === 0
    return { expired: expired.length, isMore, isEmpty, isShared: wanted.full !== undefined, dueInMs: nextDueInMs }
  }

  /** Yields: channels that answer at once would block the event loop until nothing is due. */
  async function yieldToEventLoop(): Promise<void> {
    await new Promise<void>((resolve) => void clock.after(0, resolve, 'keepAlive'))
    yieldedAt = clock.now()
  }

  function askedFor(kind: ClaimKind | undefined): Pick<ClaimRequest, 'limits' | 'busy' | 'full'> {
    const asked: ReturnType<typeof askedFor> = kind === 'rate-limited' ? limiter.rateLimited() : limiter.request()
    return { ...asked, busy: [...asked.busy, ...breaker.stopped()] }
  }

  /** Starts the attempts that may run now. Returns settlements that queue the other deliveries again, unsent. */
  function startAll(deliveries: readonly ClaimedDelivery[], lease: Lease, mine: number, onStart: ClaimArgs[1]) {
    const paused: Queued[] = []
    const surplus: Queued[] = []
    for (const claimed of deliveries) {
      const isCurrent = mine === generation
      const pausedMs = isCurrent ? breaker.pausedMs(claimed) : undefined
      const isFree = isCurrent && pausedMs === undefined
      const slot = isFree ? limiter.take(claimed, claimed.dispatch.tenant) : undefined
      if (pausedMs !== undefined) paused.push(waitForReceiver(claimed, pausedMs, lease.since))
      else if (slot) start(claimed, lease, slot, onStart)
      else surplus.push(putBack(claimed, 0))
    }
    return { paused, surplus }
  }

  function start(claimed: ClaimedDelivery, lease: Lease, slot: Slot, onStart: ClaimArgs[1]): void {
    if (claimed.reclaimed) logger.log('warn', 'delivery.reclaimed', attemptFields(claimed))
    onStart(attempts.add(attempt(claimed, lease, slot)), claimed)
  }

  /** Frees its slot once the result is stored, so that a hook that hangs does not block other messages. */
  async function attempt(claimed: ClaimedDelivery, lease: Lease, slot: Slot): Promise<Attempted> {
    const startedIn = generation
    const watched = breaker.watch(claimed)
    const onSend = (): void => {
      slot.begin()
      watched.begin()
    }
    try {
      const options = { timeoutMs, stops, onSend, onEnd: watched.end, unreachable, missingPlugins }
      const attempted = await attemptDelivery(claimed, lease, deps, options)
      if (attempted.result === 'released' && startedIn !== generation) unfinished.givenBack++
      if (attempted.reported) hooks.add(attempted.reported)
      return attempted
    } finally {
      slot.leave()
      watched.leave()
    }
  }

  function slotFreed(): void {
    for (const resume of pauses) resume()
    onFree()
  }

  /** Queues a delivery again, unsent. If that fails, its lease expires. */
  async function giveBack(settlement: Settlement): Promise<void> {
    try {
      await store.settle(settlement)
    } catch (cause) {
      const line = { level: 'error', event: 'delivery.settle_failed' } as const
      reportFault(cause, { operation: 'store', deliveryId: settlement.deliveryId }, line, deps)
    }
  }

  /** Moves a delivery behind the pause of its receiver, but not past its expiry. */
  function waitForReceiver(claimed: ClaimedDelivery, pausedMs: number, since: number) {
    const leftMs = Math.max(0, claimed.expiresInMs - (clock.now() - since))
    return putBack(claimed, Math.min(pausedMs, leftMs), 'receiver_paused')
  }

  function pause(ms: number | undefined): Promise<void> {
    return new Promise((resolve) => {
      let cancelTimer = (): void => {}
      const resume = (): void => {
        remove()
        cancelTimer()
        resolve()
      }
      const remove = pauses.add(resume)
      if (ms !== undefined) cancelTimer = clock.after(ms, resume, 'keepAlive')
    })
  }

  async function stop(graceMs = Number.POSITIVE_INFINITY): Promise<Unfinished> {
    generation++
    const own = { givenBack: 0, aborted: 0 }
    unfinished = own
    for (const resume of pauses) resume()
    // A claim in progress gives its deliveries back: claims after the next start need not wait for it.
    lastClaim = Promise.resolve()
    if (graceMs === Number.POSITIVE_INFINITY) await allEnded()
    else await allEndedWithin(graceMs, own)
    return own
  }

  async function allEnded(): Promise<void> {
    await claims.empty()
    await attempts.empty()
    await hooks.empty()
  }

  /** Aborts the attempts that are still in flight after the grace. */
  async function allEndedWithin(graceMs: number, own: { aborted: number }): Promise<void> {
    const atStop = [...stops]
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
    probesInMs: breaker.probesInMs,
    reported: hooks.empty,
    pause,
    stop,
  }
}
