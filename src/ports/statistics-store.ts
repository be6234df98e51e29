import type { JsonObject } from '../model/json.ts'
import type { Page } from './dispatch-query.ts'

/** Length of a bucket. Minutes, hours and days are counted apart, so that a long window is read from few rows. */
export type StatisticsStep = 'minute' | 'hour' | 'day'

/** Counts of one tenant in one bucket, by one counter of a process. */
export interface StatisticsRow {
  readonly tenant: string
  readonly step: StatisticsStep
  /** Start of the bucket: epoch milliseconds, by the clock of the process. */
  readonly startsAt: number
  /** Id of the counter: no other process writes this row, and the rows of a bucket add up. */
  readonly counterId: string
  /** Greater than 0, and higher for later counts of the same bucket. */
  readonly revision: number
  /** Everything that it has counted in the bucket until now. Stores do not read it. */
  readonly counts: JsonObject
}

/** A row to store. */
export interface NewStatisticsRow extends StatisticsRow {
  /** Milliseconds until it expires, by the store's clock. */
  readonly keptForMs: number
}

/** Query for rows, the oldest bucket first. */
export interface StatisticsQuery {
  readonly tenant: string
  readonly step: StatisticsStep
  /** The bucket starts at or after this instant, epoch milliseconds. */
  readonly since: number
  /** The bucket starts before this instant, epoch milliseconds. */
  readonly until: number
  readonly limit: number
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
}

/** A worker's sign of life. */
export interface Heartbeat {
  readonly workerId: string
  /** Milliseconds until the worker counts as dead, by the store's clock. 0: it has stopped. */
  readonly aliveForMs: number
}

/**
 * Stores statistics and the heartbeats of workers. Each process writes rows of its own, so that counting never waits for another
 * process. Every method throws when the store is unavailable and must then have made all of its changes or none, except {@link StatisticsStore.putStatistics}, which stores each row or not.
 */
export interface StatisticsStore {
  /**
   * Stores rows, and removes some that have expired, more than it adds. A row replaces the stored one of the same tenant, step, start and
   * counter if its revision is higher, and is ignored otherwise. A caller that got no answer may repeat the call.
   *
   * @param rows At most 100, each for another bucket.
   */
  putStatistics(rows: readonly NewStatisticsRow[]): Promise<void>
  listStatistics(query: StatisticsQuery): Promise<Page<StatisticsRow>>
  /** Replaces the worker's last heartbeat. The first one of a worker also removes some of dead workers. */
  recordHeartbeat(heartbeat: Heartbeat): Promise<void>
  /** The number of workers that are alive. A store may stop at 10,000. */
  countWorkers(): Promise<number>
}
