import { actionsOf } from '../../core/actions/call-action.ts'
import type { Plugin } from '../plugin.ts'
import { STATISTICS_ACTIONS } from './actions.ts'
import { statisticsCounter } from './counter.ts'
import { heartbeat } from './heartbeat.ts'
import { heartbeatRecords } from './heartbeat-records.ts'
import { type ReadStatistics, statisticsOf } from './read-statistics.ts'
import { statisticsRecords } from './statistics-records.ts'

/** Members that {@link statistics} adds to a Sallyport. */
export interface StatisticsApi {
  /**
   * Counts what all processes did for a tenant, in buckets of equal length, and what is due now. A process stores its counts every five
   * seconds and at `stop()`; a crash loses those of its last seconds. Minutes are kept for 2 days, hours for 90, days for 400.
   *
   * @throws {SallyportError} `option_invalid`, by a rejection, with all problems of the options. Errors of the store.
   */
  readonly stats: ReadStatistics
}

/**
 * Counts what is accepted, sent and recorded, and the workers that are alive: `sallyport.stats()`, `GET /api/outbound/stats`, and the overview
 * of the console.
 *
 * @example
 * ```ts
 * const sallyport = createSallyport({ auth, store, events, channels, plugins: [statistics()] })
 * const { buckets, due, workersAlive } = await sallyport.stats({ windowMs: 3_600_000, stepMs: 60_000 })
 * ```
 */
export function statistics(): Plugin<'statistics', StatisticsApi> {
  return {
    name: 'statistics',
    setup(core) {
      const { store, clock, channels } = core
      const records = statisticsRecords(store)
      const workers = heartbeatRecords(store)
      const counter = statisticsCounter({ ...core, records })
      const stats = statisticsOf({ records, workers, clock, counter, ...(channels && { due: { store, channels } }) })
      // A host that only records runs has no worker that others wait for.
      const beats = channels && heartbeat({ ...core, records: workers })
      return {
        api: { stats },
        actions: actionsOf(STATISTICS_ACTIONS, stats),
        on: { measured: counter.measure },
        life: {
          ...beats,
          async runDue(delivered) {
            await Promise.all([beats?.runDue(), delivered.then(counter.flush)])
          },
          flush: counter.flush,
          hasWork: counter.hasCounts,
        },
      }
    },
  }
}
