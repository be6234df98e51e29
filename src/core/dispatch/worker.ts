import type { DeliveryQueue } from '../../ports/delivery-queue.ts'
import type { ClaimedDelivery, DispatchStore } from '../../ports/dispatch-store.ts'
import { describeCause } from '../fault.ts'
import { type AttemptDeps, type AttemptResult, attemptDelivery, type Lease } from './attempt-delivery.ts'

/** How a worker works. */
export interface WorkerOptions {
  /** Messages that are sent at the same time. Default: 10. */
  readonly concurrency?: number
  /** Milliseconds after which a delivery whose worker died is taken up again. Default: 30,000. */
  readonly leaseMs?: number
  /** Milliseconds between looks when nothing wakes it. Default: 1,000. */
  readonly pollMs?: number
}

/** What a worker needs. */
export interface WorkerDeps extends AttemptDeps {
  readonly store: DispatchStore
  readonly queue: DeliveryQueue
}

/** What one {@link Worker.runDue} did. */
export interface RunDueResult {
  readonly attempted: number
  readonly sent: number
  readonly retried: number
  readonly failed: number
}

/** Delivers what is due: claim, send, settle, over and over. Any number of them may work on one store. */
export interface Worker {
  /**
   * Delivers from now on, in the background, until {@link Worker.stop}. Calling it again changes nothing. Its timers do not
   * keep a process alive: a host's server does.
   */
  start(): void
  /** Claims nothing more, and resolves when what was being sent has been settled. */
  stop(): Promise<void>
  /**
   * Delivers everything that is due now, and what that makes due, then resolves: for cron, serverless and tests.
   * Throws when the store does.
   */
  runDue(): Promise<RunDueResult>
}

/** Before looking again when a store says that there is more and gives nothing: others are at it. */
const SHORT_WAIT_MS = 10

export function createWorker(deps: WorkerDeps, options: WorkerOptions = {}): Worker {
  const { concurrency = 10, leaseMs = 30_000, pollMs = 1_000 } = options
  const channels = Object.keys(deps.channels)
  const { store, clock, logger, queue } = deps
  const sending = new Set<Promise<unknown>>()
  let running = false
  let looking: Promise<void> | undefined
  let lookAgain = false
  let stopTimer = (): void => {}
  let stopListening = (): void => {}

  /** Claims until the slots are full or nothing is due; one look at a time, and one more when it was asked for meanwhile. */
  function look(): void {
    if (!running) return
    if (looking) {
      lookAgain = true
      return
    }
    stopTimer()
    looking = claimIntoSlots()
      .catch((cause: unknown) => {
        logger.log('error', 'worker.claim_failed', describeCause(cause))
        return pollMs
      })
      .then((delayMs) => {
        looking = undefined
        if (!running) return
        stopTimer = clock.after(lookAgain ? 0 : Math.min(delayMs, pollMs), look)
        lookAgain = false
      })
  }

  async function claimIntoSlots(): Promise<number> {
    while (running && sending.size < concurrency) {
      const lease = { since: clock.now(), ms: leaseMs }
      const { deliveries, nextDueInMs = pollMs } = await store.claim({
        limit: concurrency - sending.size,
        leaseMs,
        channels,
      })
      for (const claimed of deliveries) occupySlot(claimed, lease)
      if (nextDueInMs > 0) return nextDueInMs
      if (deliveries.length === 0) return SHORT_WAIT_MS
    }
    return pollMs
  }

  function occupySlot(claimed: ClaimedDelivery, lease: Lease): void {
    const slot = attempt(claimed, lease).finally(() => {
      sending.delete(slot)
      look()
    })
    sending.add(slot)
  }

  /** A store that fails to settle leaves the lease to end: the delivery is taken up again. */
  async function attempt(claimed: ClaimedDelivery, lease: Lease): Promise<void> {
    try {
      await attemptDelivery(claimed, lease, deps)
    } catch (cause) {
      logger.log('error', 'delivery.settle_failed', { deliveryId: claimed.deliveryId, ...describeCause(cause) })
    }
  }

  return {
    start() {
      if (running) return
      running = true
      stopListening = queue.listen(look)
      look()
    },
    async stop() {
      running = false
      stopListening()
      stopTimer()
      await looking
      await Promise.allSettled(sending)
    },
    async runDue() {
      const results: AttemptResult[] = []
      for (let more = true; more; ) {
        const lease = { since: clock.now(), ms: leaseMs }
        const { deliveries } = await store.claim({ limit: concurrency, leaseMs, channels })
        const batch = allEnded(deliveries.map((claimed) => attemptDelivery(claimed, lease, deps)))
        sending.add(batch)
        results.push(...(await batch.finally(() => sending.delete(batch))))
        more = deliveries.length > 0
      }
      const count = (wanted: AttemptResult): number => results.filter((result) => result === wanted).length
      return { attempted: results.length, sent: count('sent'), retried: count('queued'), failed: count('failed') }
    },
  }
}

/** What all of them gave, once the last has ended; throws what the first to throw threw. */
async function allEnded<T>(attempts: readonly Promise<T>[]): Promise<T[]> {
  await Promise.allSettled(attempts)
  return Promise.all(attempts)
}
