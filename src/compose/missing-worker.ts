import type { Worker } from '../core/delivery/worker.ts'
import type { Clock } from '../ports/clock.ts'
import type { DispatchStore } from '../ports/dispatch-store.ts'
import type { Logger } from '../ports/logger.ts'

export interface MissingWorkerWatch {
  /** Watches a dispatch with a delivery that is due at once. */
  accepted(tenant: string, dispatchId: string): void
  /** Wraps the worker; the watch ends when it is started or run. */
  noticing(worker: Worker): Worker
}

interface WatchDeps {
  readonly store: Pick<DispatchStore, 'findDispatch'>
  readonly clock: Clock
  readonly logger: Logger
}

const WAIT_MS = 10_000

const DETAIL = [
  'A dispatch has been due for 10 s, and no worker has claimed it.',
  'Call sallyport.worker.start() in this process or in another one on the same store,',
  'or have a cron job call sallyport.worker.runDue().',
].join(' ')

/** Logs `worker.missing` once, when a dispatch of this process is due for ten seconds without a claim. Watches one at a time. */
export function watchForWorker({ store, clock, logger }: WatchDeps): MissingWorkerWatch {
  let isOver = false
  let isLooking = false
  let callOff = (): void => {}

  function end(): void {
    isOver = true
    callOff()
  }

  async function look(tenant: string, dispatchId: string): Promise<void> {
    const { deliveries = [] } = (await store.findDispatch(tenant, dispatchId)) ?? {}
    if (isOver) return
    if (deliveries.some(({ attempts }) => attempts > 0)) return end()
    const now = clock.now()
    // A later `dueAt` was set by a worker that lacks the channel.
    if (!deliveries.some(({ status, dueAt = 0 }) => status === 'queued' && dueAt <= now)) return
    end()
    logger.log('warn', 'worker.missing', { dispatchId, detail: DETAIL })
  }

  return {
    accepted(tenant, dispatchId) {
      if (isOver || isLooking) return
      isLooking = true
      callOff = clock.after(WAIT_MS, () => {
        // A failing store is logged elsewhere; the next dispatch is watched.
        const looked = look(tenant, dispatchId).catch(() => {})
        void looked.then(() => {
          isLooking = false
        })
      })
    },
    noticing: (worker) => ({
      ...worker,
      start() {
        worker.start()
        end()
      },
      runDue() {
        end()
        return worker.runDue()
      },
    }),
  }
}
