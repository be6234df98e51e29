import { readPages } from '../../../../src/contract-tests/store-cases.ts'
import { type HeartbeatRecords, heartbeatRecords } from '../../../../src/plugins/statistics/heartbeat-records.ts'
import {
  type NewStatisticsRow,
  type StatisticsQuery,
  type StatisticsRecords,
  type StatisticsRow,
  statisticsRecords,
} from '../../../../src/plugins/statistics/statistics-records.ts'
import type { RecordStore } from '../../../../src/ports/record-store.ts'
import { type CasesOf, type RecordHandles, type RecordHarness, recordCasesOf } from '../../../support/record-trials.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS: number = 60 * MINUTE_MS
export const DAY_MS: number = 24 * HOUR_MS

/** Leeway for a store whose clock runs. */
export const MARGIN_MS = 10_000

/** Start of the default bucket. It is independent of the store's clock. */
export const AT: number = 1_700_000 * MINUTE_MS

/** Records of the plugin through one handle. */
interface Handle {
  readonly rows: StatisticsRecords
  readonly workers: HeartbeatRecords
}

/** Calls that most cases make. Writes use `store`, reads use `other`. Default tenant: `t`. */
interface Calls {
  put(...rows: readonly Partial<NewStatisticsRow>[]): Promise<void>
  /** Reads rows page by page. Default: all minutes. */
  rows(query?: Partial<StatisticsQuery>, handle?: Handle): Promise<readonly StatisticsRow[]>
  /** Counter ids of these rows. */
  ids(query?: Partial<StatisticsQuery>): Promise<readonly string[]>
  beat(workerId: string, aliveForMs: number, handle?: Handle): Promise<void>
  alive(): Promise<number>
}

export type StatisticsHarness = RecordHarness<Handle, Calls>

export const statisticsCases: CasesOf<StatisticsHarness> = recordCasesOf(handleOf, callsOf)

function callsOf({ store, other }: RecordHandles<Handle>): Calls {
  const rows: Calls['rows'] = async (query, handle = other) => {
    const asked = { ...ALL, ...query }
    return readPages(asked.limit, (cursor = asked.cursor) => handle.rows.list({ ...asked, cursor }))
  }

  return {
    put: (...given) => store.rows.put(given.map(newRow)),
    rows,
    ids: async (query) => (await rows(query)).map(({ counterId }) => counterId),
    beat: (workerId, aliveForMs, handle = store) => handle.workers.record({ workerId, aliveForMs }),
    alive: () => other.workers.countWorkers(),
  }
}

function handleOf(store: RecordStore): Handle {
  return { rows: statisticsRecords(store), workers: heartbeatRecords(store) }
}

const ALL: StatisticsQuery = { tenant: 't', step: 'minute', since: 0, until: Number.MAX_SAFE_INTEGER, limit: 100 }

export function newRow(given: Partial<NewStatisticsRow> = {}): NewStatisticsRow {
  const key = { tenant: 't', step: 'minute', startsAt: AT, counterId: 'c' } as const
  return { ...key, revision: 1, counts: { accepted: 1 }, keptForMs: DAY_MS, ...given }
}

/** The row as a list shows it. */
export function listed({ keptForMs: _, ...row }: NewStatisticsRow): StatisticsRow {
  return row
}
