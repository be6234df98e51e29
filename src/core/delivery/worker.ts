import { matching } from '../../options/checks.ts'
import { type Checks, readOptions } from '../../options/read-options.ts'
import type { DeliveryQueue } from '../../ports/delivery-queue.ts'
import type { ClaimedDelivery } from '../../ports/dispatch-store.ts'
import { reportFault } from '../answers/report-fault.ts'
import type { Attempted } from './attempt-delivery.ts'
import { type RunDueResult, runDue } from './run-due.ts'
import { createSending, type SendLoopDeps } from './send-loop.ts'
import { stayAlive } from './stay-alive.ts'
import type { WorkerOptions } from './worker-options.ts'

export type { RunDueResult, WorkerOptions }

/** What a worker needs. */
export interface WorkerDeps extends SendLoopDeps {
  readonly queue: DeliveryQueue
}

/** How {@link Worker.stop} is to stop. */
export interface StopOptions {
  /**
   * Milliseconds that what is being sent may still take. After that the signals of its sends are aborted, and a second later
   * they count as `unknown`; hooks and the store's claims are not waited for any longer then, and a store that does not write
   * down how they ended one second more. What comes later is still written, or given back. Default, and `Infinity`: as long as
   * it takes, which `sendTimeoutMs` bounds when the store answers.
   */
  readonly graceMs?: number
}

/** Delivers what is due: claim, send, settle, over and over. Any number of them may work on one store. */
export interface Worker {
  /**
   * Delivers from now on, in the background, until {@link Worker.stop}. Calling it again changes nothing. Where there are run
   * events, or `staleAfterMs`, it also sees to these every minute.
   *
   * A started worker keeps its process alive, also while its database is away and in sandbox mode, until a `stop` has resolved.
   * A store that throws is logged, reported to `onError`, and asked again after `pollMs`. Throws what the `listen` of a queue throws;
   * nothing is started then.
   */
  start(): void
  /**
   * Claims nothing more, puts back what was not begun, and resolves when what was being sent has been settled; `runDue` too.
   * It may be called again, and started again. At the end of a process, `stop` of Sallyport stops the rest too.
   *
   * @throws {SallyportError} `option_invalid`, by a rejection, when `graceMs` cannot be; nothing is stopped then.
   */
  stop(options?: StopOptions): Promise<void>
  /**
   * Delivers everything that is due now, and what that makes due, then resolves: for cron, serverless and tests. Before that it
   * expires stale runs and dispatches what is untold of runs, where a host has either. What this
   * worker is sending already, or another run of it, is theirs: it is not waited for, and not counted.
   * Once it has resolved, it does not keep the process alive. Waits for a rate that holds up what is due by the time it lets it go. Throws when the store does, once all it began has ended.
   */
  runDue(): Promise<RunDueResult>
}

const STOP_CHECKS: Checks<StopOptions> = {
  graceMs: matching((ms) => typeof ms === 'number' && ms >= 0, 'must be milliseconds from 0 on, or Infinity'),
}

/** @throws {SallyportError} `option_invalid`: then nothing is stopped. */
export function readStopOptions(options: StopOptions, call = 'worker.stop'): StopOptions {
  return readOptions(call, options, STOP_CHECKS)
}

/** Between looks that find nothing to send, whatever the store says. */
const SHORT_WAIT_MS = 10

export function createWorker(deps: WorkerDeps, options: WorkerOptions = {}): Worker {
  const { pollMs = 1_000 } = options
  const { clock, logger, queue, sandbox } = deps
  const sending = createSending(deps, options, look)
  let running = false
  /** The life in which a look is under way. */
  let looking: number | undefined
  let lookAgain = false
  let stopTimer = (): void => {}
  let stopListening = (): void => {}
  let letProcessEnd = (): void => {}

  /** Begins all that may be begun; one look at a time, and one more when it was asked for meanwhile. */
  function look(): void {
    if (!running) return
    const { life } = sending
    lookAgain = looking === life
    if (lookAgain) return
    looking = life
    stopTimer()
    void fill(life)
      .catch((cause: unknown) => {
        reportFault(cause, { operation: 'store' }, { level: 'error', event: 'worker.claim_failed' }, deps)
        return pollMs
      })
      .then((delayMs) => {
        if (looking !== life) return
        looking = undefined
        if (running) stopTimer = clock.after(lookAgain ? 0 : delayMs, ring)
      })
  }

  function ring(): void {
    sending.turned()
    look()
  }

  /** Claims while there is more; gives the milliseconds until another look is worth it. */
  async function fill(life: number): Promise<number> {
    for (;;) {
      const { isMore, dueInMs = pollMs } = await sending.claim(life, logFault)
      if (!isMore) return Math.max(SHORT_WAIT_MS, Math.min(dueInMs, sending.freeInMs() ?? pollMs, pollMs))
    }
  }

  /** A store that fails to settle leaves the lease to end: the delivery is taken up again. */
  function logFault(attempt: Promise<Attempted>, { deliveryId }: ClaimedDelivery): void {
    const line = { level: 'error', event: 'delivery.settle_failed' } as const
    attempt.catch((cause: unknown) => reportFault(cause, { operation: 'store', deliveryId }, line, deps))
  }

  return {
    start() {
      if (running) return
      if (!sandbox) stopListening = queue.listen(look)
      running = true
      letProcessEnd = stayAlive(clock)
      if (sandbox) return logger.log('warn', 'worker.sandboxed', {})
      logger.log('info', 'worker.started', {})
      ring()
    },
    async stop(options = {}) {
      const { graceMs } = readStopOptions(options)
      const wasWorking = running && !sandbox
      running = false
      stopListening()
      stopTimer()
      // Not that of a start which comes meanwhile.
      const left = await sending.stop(graceMs).finally(letProcessEnd)
      if (wasWorking) logger.log('info', 'worker.stopped', { ...left })
    },
    runDue: () => runDue(sending),
  }
}
