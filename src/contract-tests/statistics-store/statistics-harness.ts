import type {
  Heartbeat,
  NewStatisticsRow,
  StatisticsQuery,
  StatisticsRow,
  StatisticsStore,
} from '../../ports/statistics-store.ts'
import type { CaseTable, ContractCase, StoreCapabilities, StoreTrial } from '../contract.ts'
import { readPages, reopened, storeCases } from '../store-cases.ts'

export const MINUTE_MS = 60_000
export const HOUR_MS: number = 60 * MINUTE_MS
export const DAY_MS: number = 24 * HOUR_MS

/** Leeway for a store whose clock runs. */
export const MARGIN_MS = 10_000

/** Start of the default bucket. It is independent of the store's clock. */
export const AT: number = 1_700_000 * MINUTE_MS

/** Names that databases have refused, changed or confused, of up to 200 characters. */
export const ODD_NAMES: readonly string[] = [
  'o\u2019Hara \u{1f600}',
  "'; drop table t --",
  '\\ " % _ / ~',
  'a',
  'A',
  'a ',
  '\u00e4',
  'a\u0308',
  '\u0001\n\t',
  'toString',
  ' ',
  'long-'.repeat(40),
  '\u00c4'.repeat(200),
  `${'\u00c4'.repeat(199)}B`,
  `${'\u00c4'.repeat(199)}b`,
]

export type StatisticsStoreCase = ContractCase<StoreTrial<StatisticsStore>>

/** A store under test, with the calls that most cases make. Writes use `store`, reads use `other`. Default tenant: `t`. */
export interface StatisticsHarness {
  readonly store: StatisticsStore
  /** The second handle; `store` if there is none. */
  readonly other: StatisticsStore
  advance(ms: number): Promise<void>
  put(...rows: readonly Partial<NewStatisticsRow>[]): Promise<void>
  /** Reads rows page by page. Default: all minutes. */
  rows(query?: Partial<StatisticsQuery>, handle?: StatisticsStore): Promise<readonly StatisticsRow[]>
  /** Counter ids of these rows. */
  ids(query?: Partial<StatisticsQuery>): Promise<readonly string[]>
  beat(workerId: string, aliveForMs: number, handle?: StatisticsStore): Promise<void>
  alive(): Promise<number>
  /** A harness over the same data, after all handles were closed. */
  reopen(): Promise<StatisticsHarness>
}

export function statisticsCases(
  needs: readonly (keyof StoreCapabilities)[],
  table: CaseTable<StatisticsHarness>,
): readonly StatisticsStoreCase[] {
  return storeCases(harnessOf, needs, table)
}

function harnessOf(trial: StoreTrial<StatisticsStore>): StatisticsHarness {
  const { store, other = store } = trial

  const rows: StatisticsHarness['rows'] = async (query, handle = other) => {
    const asked = { ...ALL, ...query }
    return readPages(asked.limit, (cursor = asked.cursor) => handle.listStatistics({ ...asked, cursor }))
  }

  return {
    store,
    other,
    advance: async (ms) => trial.advance(ms),
    put: (...given) => store.putStatistics(given.map(newRow)),
    rows,
    ids: async (query) => (await rows(query)).map(({ counterId }) => counterId),
    beat(workerId, aliveForMs, handle = store) {
      const heartbeat: Heartbeat = { workerId, aliveForMs }
      return handle.recordHeartbeat(heartbeat)
    },
    alive: () => other.countWorkers(),
    reopen: async () => harnessOf(await reopened(trial)),
  }
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
