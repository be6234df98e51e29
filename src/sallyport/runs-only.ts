import { readStopOptions, type StopOptions, stayAlive, type Worker } from '../core/delivery/worker.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { sweepStale } from '../core/runs/sweep-stale.ts'
import type { Clock } from '../ports/clock.ts'
import { type Budgets, budgetsOf } from './budgets.ts'
import { withDefaults } from './defaults.ts'
import { runsOnlyEndpoints, stopOf } from './endpoints.ts'
import { NOTHING_DUE, withMaintenance } from './maintenance.ts'
import type { RunsOnlyOptions } from './options.ts'
import { type Runs, runsOf } from './runs.ts'
import { type Sessions, sessionsOf } from './sessions.ts'

/** Sallyport in a host that only records runs. Reads throw what the store throws. */
export interface RunsOnlySallyport {
  /** The endpoints that an adapter mounts. */
  readonly endpoints: Endpoints
  /** Makes stale runs `expired` where `staleAfterMs` is given: every minute after `start()`, or by `runDue()`. Delivers nothing. */
  readonly worker: Worker
  /**
   * Stops at the end of a process: stops the worker, as {@link Worker.stop} does, and closes the connections of callers. From now on
   * every answer over HTTP/1 has `Connection: close`, so that `server.close()` ends although callers keep busy connections: answers of
   * Sallyport, and those of the host that go through `toExpress`, `toKoa`, `toNode` or the `notFound` of `toFetch`. Requests are still
   * served, for as long as the server accepts them.
   *
   * Resolves when all deliveries in flight are settled. It may be called before a start, and again. Connections go on closing even if
   * the worker is started again: to stop only the worker, call `worker.stop()`.
   *
   * @throws {SallyportError} `option_invalid`, by a rejection, for a wrong `graceMs`; then nothing is stopped.
   */
  stop(options?: StopOptions): Promise<void>
  /**
   * Resolves when the store can be used: await it before the host listens.
   *
   * @throws {SallyportError} `config_invalid`: the store needs a step first, such as a migration of the database.
   */
  ready(): Promise<void>
  readonly runs: Runs
  readonly sessions: Sessions
  readonly budgets: Budgets
}

/** Creates a Sallyport that only records runs, from checked options. */
export function createRunsOnly(options: RunsOnlyOptions): RunsOnlySallyport {
  const deps = withDefaults(options)
  const { store, clock, budgets = [], staleAfterMs } = deps
  const maintenanceTasks = {
    published: async () => {},
    ...(staleAfterMs !== undefined && { sweepStale: () => sweepStale(staleAfterMs, deps) }),
  }
  const worker = withMaintenance(idleWorker(clock), maintenanceTasks, deps)
  const { stop, isStopping } = stopOf(worker)
  return {
    endpoints: { ...runsOnlyEndpoints(deps, options), isStopping },
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

/** A worker with nothing to deliver. Like every started worker, it keeps its process alive. */
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
