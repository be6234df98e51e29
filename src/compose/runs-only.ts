import { POSTS } from '../actions/table.ts'
import { readStopOptions, type StopOptions, stayAlive, type Worker } from '../core/delivery/worker.ts'
import type { Endpoints } from '../core/endpoints.ts'
import { sweepStale } from '../core/runs/sweep-stale.ts'
import type { Clock } from '../ports/clock.ts'
import type { RunStore } from '../ports/run-store.ts'
import type { StatisticsStore } from '../ports/statistics-store.ts'
import type { TokenStore } from '../ports/token-store.ts'
import { type Budgets, budgetsOf } from '../services/budgets.ts'
import { type Runs, runsOf } from '../services/runs.ts'
import { type Sessions, sessionsOf } from '../services/sessions.ts'
import { type ReadStatistics, statisticsOf } from '../services/statistics.ts'
import { type Tokens, tokenServices } from '../services/tokens.ts'
import { withDefaults } from './defaults.ts'
import { callActions, endpointsOf, recordActions, stopOf } from './endpoints.ts'
import { withErrorDetails } from './error-details.ts'
import { NOTHING_DUE, withMaintenance } from './maintenance.ts'
import { type Measuring, measuringOf, withCounts } from './measuring.ts'
import { watchMemory } from './memory-stores.ts'
import type { RunsOnlyOptions } from './options.ts'

/** Sallyport in a host that only records runs. Reads throw errors of the store. */
export interface RunsOnlySallyport {
  /** Endpoints for an adapter. */
  readonly endpoints: Endpoints
  /** Makes stale runs `expired` with `staleAfterMs`: every minute after `start()`, or by `runDue()`. Delivers nothing. */
  readonly worker: Worker
  /**
   * Stops the worker, as {@link Worker.stop} does, and closes the connections of callers, for the end of a process. From now on
   * every answer over HTTP/1 has `Connection: close`, so that `server.close()` ends even with busy connections: answers of
   * Sallyport, and those of the host that pass `toExpress`, `toKoa`, `toNode` or the `notFound` of `toFetch`. Requests are still
   * served while the server accepts them.
   *
   * Resolves when all deliveries in flight are settled, and the uses of tokens and the statistics are stored. Those that are not stored one second after
   * `graceMs` are no longer awaited; for uses that is logged as `token_use.write_failed`. May be called before a start, and again. Connections
   * continue to close even if the worker is started again: to stop only the worker, call `worker.stop()`.
   *
   * @throws {SallyportError} `option_invalid`, by a rejection, for a wrong `graceMs`; then nothing is stopped.
   */
  stop(options?: StopOptions): Promise<void>
  /**
   * Resolves when the store is usable: await it before the host listens.
   *
   * @throws {SallyportError} `config_invalid`: the store needs a step first, such as a migration of the database.
   */
  ready(): Promise<void>
  /** The store that it was given. */
  readonly store: RunStore & TokenStore & StatisticsStore
  readonly runs: Runs
  readonly sessions: Sessions
  readonly budgets: Budgets
  readonly tokens: Tokens
  /**
   * Counts what all processes did for a tenant, in buckets of equal length, and what is due now. A process stores its counts every five
   * seconds and at `stop()`; a crash loses those of its last seconds. Minutes are kept for 2 days, hours for 90, days for 400.
   *
   * @throws {SallyportError} `option_invalid`, by a rejection, with all problems of the options. Errors of the store.
   */
  readonly stats: ReadStatistics
  readonly onMeasurement: Measuring['onMeasurement']
}

export function createRunsOnly(options: RunsOnlyOptions): RunsOnlySallyport {
  const given = withErrorDetails(withDefaults(options))
  const { measure, counter, onMeasurement } = measuringOf(given)
  const deps = { ...given, measure }
  const { store, clock, budgets = [], staleAfterMs } = deps
  const maintenanceTasks = {
    published: async () => {},
    ...(staleAfterMs !== undefined && { sweepStale: () => sweepStale(staleAfterMs, deps) }),
  }
  const counting = withCounts(withMaintenance(idleWorker(clock), maintenanceTasks, deps), counter, clock)
  const worker = watchMemory(counting, store, given.logger)
  const services = { ...tokenServices(deps), counter }
  const { stop, isStopping } = stopOf(worker, services, deps)
  const calls = {
    runs: runsOf(deps),
    sessions: sessionsOf({ store, dispatches: { listDispatches: async () => ({ items: [] }) }, clock }),
    tokens: services.tokens,
    budgets: budgetsOf({ budgets, store, clock }),
    stats: statisticsOf({ store, clock, counter }),
  }
  // Dispatching is not offered.
  const actions = [POSTS.dispatch, ...recordActions(deps, given), ...callActions(calls)]
  return {
    ...calls,
    endpoints: { ...endpointsOf(deps, given, { actions, services }), isStopping },
    worker,
    store,
    stop,
    async ready() {
      await store.ready?.()
    },
    onMeasurement,
  }
}

/** Worker with nothing to deliver. Keeps its process alive, like every started worker. */
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
