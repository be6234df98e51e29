import { matching } from '../../options/checks.ts'
import { type Checks, readOptions } from '../../options/read-options.ts'
import { shown } from '../../options/shown-value.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DeliveryQueue } from '../../ports/delivery-queue.ts'
import type { ClaimedDelivery } from '../../ports/dispatch-store.ts'
import { limitLines } from '../answers/line-limiter.ts'
import { reportFault } from '../answers/report-fault.ts'
import type { Attempted } from './attempt-report.ts'
import { type Listening, listenToQueue } from './listen-to-queue.ts'
import { type ClaimKind, type ClaimOutcome, createSendLoop, type SendLoop, type SendLoopDeps } from './send-loop.ts'
import type { WorkerOptions } from './worker-options.ts'

export type { WorkerOptions }

export interface WorkerDeps extends SendLoopDeps {
  readonly queue: DeliveryQueue
}

/** Options of {@link Worker.stop}. */
export interface StopOptions {
  /**
   * Milliseconds of grace for sends in flight. Then their signals abort, and one second later they count as `unknown`; the worker
   * no longer waits for hooks or claims. After one more second it stops waiting for the store. Later results are still stored, and
   * later claims given back. Default, and `Infinity`: limited only by `sendTimeoutMs`, when the store answers.
   */
  readonly graceMs?: number
}

/** Result of one `Worker.runDue`. Deliveries that were queued again unsent are not counted. */
export interface RunDueResult {
  /** Deliveries sent, retried, failed, cancelled meanwhile, or whose lease was lost. */
  readonly attempted: number
  readonly sent: number
  readonly retried: number
  readonly failed: number
  readonly skipped: number
  readonly expired: number
}

/** Delivers due deliveries: claims, sends and settles. Any number of workers may share one store. */
export interface Worker {
  /**
   * Delivers in the background until {@link Worker.stop}. Further calls do nothing. With run events or `staleAfterMs`, it also runs
   * their maintenance every minute.
   *
   * A started worker keeps its process alive until a `stop` has resolved, also while the database is unavailable and in sandbox
   * mode. An error of the store is logged, reported to `onError`, and the store is polled again after `pollMs`, by default a second.
   * Throws errors of the queue's `listen`, and `answer_invalid` if that returns no function; then nothing is started.
   */
  start(): void
  /**
   * Claims nothing more, queues unsent deliveries again, and resolves when the deliveries in flight are settled, also those of
   * `runDue`. May be called again; the worker may be started again. At the end of a process, use `stop` of Sallyport.
   *
   * @throws {SallyportError} `option_invalid`, as a rejection, when `graceMs` is invalid; then nothing is stopped.
   */
  stop(options?: StopOptions): Promise<void>
  /**
   * Delivers all deliveries that are due now, or become due by that, then resolves: for cron, serverless and tests. First it
   * expires stale runs and dispatches pending run events, if configured. Deliveries in flight of this worker or of another `runDue`
   * are neither awaited nor counted. Does not keep the process alive after it resolves.
   *
   * Waits for a rate limit when a delivery of that channel is due before it allows a send. Throws errors of the store, once all
   * attempts it started have ended.
   */
  runDue(): Promise<RunDueResult>
}

const STOP_CHECKS: Checks<StopOptions> = {
  graceMs: matching((ms) => typeof ms === 'number' && ms >= 0, 'must be milliseconds from 0 on, or Infinity', shown),
}

/** @throws {SallyportError} `option_invalid` */
export function readStopOptions(options: StopOptions, call = 'worker.stop'): StopOptions {
  return readOptions(call, options, STOP_CHECKS)
}

/** Minimum time between polls that find nothing to send, whatever the store answers. */
const MIN_POLL_MS = 10

/** Time between polls without a wake. */
const POLL_MS = 1_000

/** Time between polls while the queue is connected: they only find what a lost wake left. */
const CONNECTED_POLL_MS = 5_000

/** Time between log lines of the same fault, which each poll of an outage has. */
const REPEATED_MS = 10_000

/** `runDue` no longer believes a store that still reports more after this wait. */
const MAX_EMPTY_MS = 1_000

export function createWorker(deps: WorkerDeps, options: WorkerOptions = {}): Worker {
  const { pollMs = POLL_MS } = options
  /** Not longer than a lease: a lease of a worker that died is seen before its end, which then is the time of a poll. */
  const connectedPollMs = options.pollMs ?? Math.min(CONNECTED_POLL_MS, options.leaseMs ?? CONNECTED_POLL_MS)
  const { clock, logger, queue, sandbox } = deps
  const sendLoop = createSendLoop(deps, options, poll)
  const claimFailed = { level: 'error', event: 'worker.claim_failed', limiter: limitLines(REPEATED_MS) } as const
  let isRunning = false
  let pollingIn: number | undefined
  let pollAgain = false
  let emptyMs = MIN_POLL_MS
  let cancelTimer = (): void => {}
  let listening: Listening | undefined
  let letProcessEnd = (): void => {}

  /** Starts every send that may start. One poll runs at a time; calls meanwhile cause one more. */
  function poll(): void {
    if (!isRunning) return
    const { generation } = sendLoop
    pollAgain = pollingIn === generation
    if (pollAgain) return
    pollingIn = generation
    cancelTimer()
    void fillSlots(generation)
      .then((delayMs) => {
        claimFailed.limiter.reset()
        return delayMs
      })
      .catch((cause: unknown) => {
        reportFault(cause, { operation: 'store' }, claimFailed, deps)
        return pollMs
      })
      .then((delayMs) => {
        if (pollingIn !== generation) return
        pollingIn = undefined
        if (isRunning) cancelTimer = clock.after(pollAgain ? 0 : delayMs, onTimer)
      })
  }

  function onTimer(): void {
    sendLoop.yielded()
    poll()
  }

  /**
   * Claims while more is due; returns the milliseconds until the next poll. They double while claims find nothing although the store
   * reports more.
   */
  async function fillSlots(generation: number): Promise<number> {
    for (;;) {
      const { isMore, isEmpty, dueInMs = Number.POSITIVE_INFINITY } = await sendLoop.claim(generation, logFault)
      if (!isEmpty) emptyMs = MIN_POLL_MS
      if (isMore) continue
      const { freeInMs, probesInMs } = sendLoop
      const mostMs = listening?.isConnected ? connectedPollMs : pollMs
      const waitMs = isEmpty ? emptyMs : dueInMs
      if (isEmpty) emptyMs = Math.min(2 * emptyMs, pollMs)
      return Math.max(MIN_POLL_MS, Math.min(waitMs, freeInMs() ?? mostMs, probesInMs() ?? mostMs, mostMs))
    }
  }

  /** If the store cannot settle, the lease expires and the delivery is claimed again. */
  function logFault(attempt: Promise<Attempted>, { deliveryId }: ClaimedDelivery): void {
    const line = { level: 'error', event: 'delivery.settle_failed' } as const
    attempt.catch((cause: unknown) => reportFault(cause, { operation: 'store', deliveryId }, line, deps))
  }

  return {
    start() {
      if (isRunning) return
      if (!sandbox) listening = listenToQueue(queue, poll)
      isRunning = true
      letProcessEnd = stayAlive(clock)
      if (sandbox) return logger.log('warn', 'worker.sandboxed', {})
      logger.log('info', 'worker.started', {})
      onTimer()
    },
    async stop(options = {}) {
      const { graceMs } = readStopOptions(options)
      const wasWorking = isRunning && !sandbox
      isRunning = false
      listening?.stop()
      cancelTimer()
      // Reads `letProcessEnd` now: a start meanwhile sets another.
      const unfinished = await sendLoop.stop(graceMs).finally(letProcessEnd)
      if (wasWorking) logger.log('info', 'worker.stopped', { ...unfinished })
    },
    runDue: () => runDue(sendLoop),
  }
}

/** Sends until nothing is due and none of its own attempts is in flight. Starts nothing after a stop or an error of the store. */
async function runDue(sendLoop: SendLoop): Promise<RunDueResult> {
  const { generation } = sendLoop
  sendLoop.yielded()
  const counts = { sent: 0, retried: 0, failed: 0, skipped: 0, cancelled: 0, released: 0, lost: 0 }
  const faults: unknown[] = []
  let expired = 0
  let open = 0
  let ended = 0
  let emptyMs = MIN_POLL_MS

  function mayClaim(): boolean {
    return sendLoop.generation === generation && faults.length === 0
  }

  async function claim(kind: ClaimKind): Promise<ClaimOutcome | undefined> {
    const outcome = await sendLoop.claim(generation, watch, kind).catch((cause: unknown) => void faults.push(cause))
    expired += outcome?.expired ?? 0
    return outcome
  }

  function watch(attempt: Promise<Attempted>): void {
    const end = (note: () => void): void => {
      note()
      open--
      ended++
    }
    open++
    attempt.then(
      ({ result }) => end(() => counts[result]++),
      (cause) => end(() => faults.push(cause)),
    )
  }

  for (;;) {
    const before = ended
    if (mayClaim()) {
      const outcome = await claim('free')
      if (!outcome?.isEmpty) emptyMs = MIN_POLL_MS
      if (!outcome || outcome.isMore || ended !== before) continue
      if (outcome.isEmpty && outcome.isShared && emptyMs < MAX_EMPTY_MS) {
        await sendLoop.pause(emptyMs)
        emptyMs *= 2
        continue
      }
    }
    const freeInMs = mayClaim() ? sendLoop.freeInMs() : undefined
    if (open === 0) {
      if (freeInMs === undefined) break
      const limited = await claim('rate-limited')
      if (!mayClaim() || limited?.dueInMs === undefined || limited.dueInMs > freeInMs) break
    }
    await sendLoop.pause(freeInMs)
  }
  await sendLoop.reported()
  if (faults.length > 0) throw faults[0]
  const { sent, retried, failed, skipped, cancelled, lost } = counts
  return { attempted: sent + retried + failed + cancelled + lost, sent, retried, failed, skipped, expired }
}

/** Shorter than the longest timer of every runtime. */
const HOUR_MS = 3_600_000

export function stayAlive(clock: Pick<Clock, 'after'>): () => void {
  let release = (): void => {}
  const hold = (): void => {
    release = clock.after(HOUR_MS, hold, 'keepAlive')
  }
  hold()
  return () => release()
}
