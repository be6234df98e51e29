import { answering } from '../core/answers/fault.ts'
import { refuse } from '../core/answers/result.ts'

import { readStopOptions, type StopOptions, stayAlive, type Worker } from '../core/delivery/worker.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { recordRun } from '../core/runs/handle-session-run.ts'
import { recordBatch } from '../core/runs/handle-session-run-batch.ts'
import { sweepStale } from '../core/runs/sweep-stale.ts'
import type { Clock } from '../ports/clock.ts'
import { type Budgets, budgetsOf } from './budgets.ts'
import { callerEndpoints } from './caller-endpoints.ts'
import { withDefaults } from './defaults.ts'
import { NOTHING_DUE, withMaintenance } from './maintenance.ts'
import type { RunsOnlyOptions } from './options.ts'
import { type Runs, runsOf } from './runs.ts'
import { type Sessions, sessionsOf } from './sessions.ts'
import { stopOf } from './stop.ts'

/** Sallyport in a host that only records runs. Reads throw what the store throws. */
export interface RunsOnlySallyport {
  /** What the adapters drive. */
  readonly endpoints: Endpoints
  /** Makes stale runs `expired` where `staleAfterMs` is given: every minute once it is started, or by `runDue()`. Delivers nothing. */
  readonly worker: Worker
  /**
   * Stops the worker, and has every adapter answer with `Connection: close` from then on, so that `server.close()` ends although callers
   * keep their connections. Requests are served as before.
   *
   * @throws {SallyportError} `option_invalid`, by a rejection, when `graceMs` cannot be; nothing is stopped then.
   */
  stop(options?: StopOptions): Promise<void>
  /**
   * Resolves once the store can be used: to be awaited before a host listens.
   *
   * @throws {SallyportError} `config_invalid`, where the store says what is to be done first: a database that is not migrated.
   */
  ready(): Promise<void>
  readonly runs: Runs
  readonly sessions: Sessions
  readonly budgets: Budgets
}

/** A worker with nothing to deliver. A started one keeps its process alive, as every worker does. */
function idleWorker(clock: Clock): Worker {
  let letProcessEnd: (() => void) | undefined
  return {
    start() {
      letProcessEnd ??= stayAlive(clock)
    },
    async stop(options = {}) {
      readStopOptions(options)
      letProcessEnd?.()
      letProcessEnd = undefined
    },
    runDue: async () => NOTHING_DUE,
  }
}

/** Puts together what records runs, of options that were checked. */
export function runsOnlySallyport(options: RunsOnlyOptions): RunsOnlySallyport {
  const deps = withDefaults(options)
  const { store, clock, budgets = [], staleAfterMs } = deps
  const maintenanceTasks = {
    published: async () => {},
    ...(staleAfterMs !== undefined && { sweepStale: () => sweepStale(staleAfterMs, deps) }),
  }
  const worker = withMaintenance(idleWorker(clock), maintenanceTasks, deps)
  const { stop, isStopping } = stopOf(worker)
  return {
    endpoints: {
      ...callerEndpoints(deps, options),
      isStopping,
      handles: (action) => action !== 'dispatch',
      handle: (action, principal, request) =>
        answering<unknown>(deps, async () => {
          if (action === 'dispatch') return refuse('not_found', 'This host only records runs.')
          return action === 'session_run' ? recordRun(principal, request, deps) : recordBatch(principal, request, deps)
        }),
      isPublishing: () => false,
      async deliver() {},
    },
    worker,
    stop,
    async ready() {
      await store.ready?.()
    },
    runs: runsOf(deps),
    sessions: sessionsOf({ store, dispatches: { listDispatches: async () => ({ items: [] }) } }),
    budgets: budgetsOf({ budgets, store, clock }),
  }
}
