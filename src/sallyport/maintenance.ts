import { refusalOf } from '../core/answers/fault.ts'
import { type FaultDeps, reportFault } from '../core/answers/report-fault.ts'
import { type RunDueResult, readStopOptions, type StopOptions, type Worker } from '../core/delivery/worker.ts'
import { withTimeout } from '../model/time-out.ts'
import type { Clock } from '../ports/clock.ts'

/** What is to be done now and then. */
export interface MaintenanceTasks {
  /** Tells what is untold of runs; asks again and again whether it may go on. */
  readonly publishPending?: ((mayGoOn: () => boolean) => Promise<unknown>) | undefined
  /** Resolves when what is being told in the background has been told. */
  readonly published: () => Promise<unknown>
  /** Makes runs `expired` that nothing is heard of. */
  readonly sweepStale?: (() => Promise<unknown>) | undefined
}

interface MaintenanceDeps extends FaultDeps {
  readonly clock: Clock
}

const EVERY_MS = 60_000

export const NOTHING_DUE: RunDueResult = { attempted: 0, sent: 0, retried: 0, failed: 0, skipped: 0, expired: 0 }

/**
 * A worker that does chores too: every minute while it is started, and before everything else in `runDue` (for a host that has
 * a cron job instead), so that what comes of them is delivered by it. What a chore throws is logged and keeps nothing from being delivered. With no chores: the
 * worker itself.
 */
export function withMaintenance(worker: Worker, maintenanceTasks: MaintenanceTasks, deps: MaintenanceDeps): Worker {
  const { clock } = deps
  const { publishPending, published, sweepStale } = maintenanceTasks
  if (!publishPending && !sweepStale) return worker
  let isStarted = false
  /** Every stop begins another: what was begun in one does not go on in the next. */
  let life = 0
  let going: Promise<void> | undefined
  let stopTimer = (): void => {}

  /** One at a time: who comes meanwhile waits for the one that goes on. */
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

  async function quiet({ graceMs = Number.POSITIVE_INFINITY }: StopOptions): Promise<void> {
    const quiet = Promise.all([going, published()])
    await (graceMs === Number.POSITIVE_INFINITY
      ? quiet
      : withTimeout(quiet, { ms: graceMs, clock, fallback: () => {} }))
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
      await Promise.all([worker.stop(options), quiet(options)])
    },
    async runDue() {
      const begunIn = life
      await Promise.all([published(), maintain()])
      return life === begunIn ? worker.runDue() : NOTHING_DUE
    },
  }
}
