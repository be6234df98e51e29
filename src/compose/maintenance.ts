import { refusalOf } from '../core/answers/fault.ts'
import { type FaultDeps, reportFault } from '../core/answers/report-fault.ts'
import { type RunDueResult, readStopOptions, type StopOptions, type Worker } from '../core/delivery/worker.ts'
import { withTimeout } from '../model/time-out.ts'
import type { Clock } from '../ports/clock.ts'

export interface MaintenanceTasks {
  /** Publishes pending run events; calls `mayGoOn` before each step. */
  readonly publishPending?: ((mayGoOn: () => boolean) => Promise<unknown>) | undefined
  readonly published: () => Promise<unknown>
  readonly sweepStale?: (() => Promise<unknown>) | undefined
}

interface MaintenanceDeps extends FaultDeps {
  readonly clock: Clock
}

const EVERY_MS = 60_000

export const NOTHING_DUE: RunDueResult = { attempted: 0, sent: 0, retried: 0, failed: 0, skipped: 0, expired: 0 }

/** Adds maintenance: every minute while started, and first in `runDue`, so that its dispatches are delivered. Logs errors. */
export function withMaintenance(worker: Worker, maintenanceTasks: MaintenanceTasks, deps: MaintenanceDeps): Worker {
  const { clock } = deps
  const { publishPending, published, sweepStale } = maintenanceTasks
  if (!publishPending && !sweepStale) return worker
  let isStarted = false
  /** Incremented by each stop: tasks begun before it do not continue. */
  let life = 0
  let going: Promise<void> | undefined
  let stopTimer = (): void => {}

  /** One run at a time: a concurrent call waits for the current one. */
  function maintain(): Promise<void> {
    going ??= runMaintenance(life).finally(() => {
      going = undefined
    })
    return going
  }

  async function runMaintenance(begunIn: number): Promise<void> {
    await logged('run.sweep_failed', sweepStale)
    await published()
    await logged('run_event.pending_failed', publishPending && (() => publishPending(() => life === begunIn)))
  }

  async function logged(event: string, task: (() => Promise<unknown>) | undefined): Promise<void> {
    try {
      await task?.()
    } catch (thrown) {
      const { cause, at } = refusalOf(thrown)
      reportFault(cause, { operation: 'store', ...at }, { level: 'error', event }, deps)
    }
  }

  function setTimer(): void {
    stopTimer()
    stopTimer = clock.after(EVERY_MS, () => void maintain().then(() => isStarted && setTimer()))
  }

  async function finish({ graceMs = Number.POSITIVE_INFINITY }: StopOptions): Promise<void> {
    const finished = Promise.all([going, published()])
    await (graceMs === Number.POSITIVE_INFINITY
      ? finished
      : withTimeout(finished, { ms: graceMs, clock, fallback: () => {} }))
  }

  return {
    start() {
      worker.start()
      if (isStarted) return
      isStarted = true
      setTimer()
    },
    async stop(options = {}) {
      readStopOptions(options)
      life++
      isStarted = false
      stopTimer()
      await Promise.all([worker.stop(options), finish(options)])
    },
    async runDue() {
      const begunIn = life
      await Promise.all([published(), maintain()])
      return life === begunIn ? worker.runDue() : NOTHING_DUE
    },
  }
}
