import type { ConfigProblem } from '../../errors.ts'
import type { DueNow, Statistics } from '../../model/statistics.ts'
import { matching, whole } from '../../options/checks.ts'
import { type Checks, type GivenOptions, readOptions } from '../../options/read-options.ts'
import { shown } from '../../options/shown-value.ts'
import type { Clock } from '../../ports/clock.ts'
import type { DispatchStore } from '../../ports/dispatch-store.ts'
import { type TenantScope, tenant } from '../../services/call-checks.ts'
import { KEPT_MS, STEP_MS, type StatisticsCounter } from './counter.ts'
import { addCounts, type Counts, noCounts, viewCounts } from './counts.ts'
import type { HeartbeatRecords } from './heartbeat-records.ts'
import type { StatisticsQuery, StatisticsRecords, StatisticsRow, StatisticsStep } from './statistics-records.ts'

/** Window and step of statistics. */
export interface StatisticsOptions extends TenantScope {
  /**
   * Milliseconds until now: a multiple of `stepMs`, at most 1,500 steps. Up to 2 days with steps of minutes, up to 90 days with steps of
   * whole hours, and up to 400 days with steps of one day. Default: one hour.
   */
  readonly windowMs?: number | undefined
  /** Milliseconds of a bucket: whole minutes, up to one day. A day begins at midnight UTC. Default: one minute. */
  readonly stepMs?: number | undefined
}

/** Reads statistics: see `Sallyport.stats`. */
export type ReadStatistics = (options?: StatisticsOptions) => Promise<Statistics>

interface StatisticsDeps {
  readonly records: Pick<StatisticsRecords, 'list'>
  readonly workers: Pick<HeartbeatRecords, 'countWorkers'>
  readonly clock: Pick<Clock, 'now'>
  readonly counter: Pick<StatisticsCounter, 'unstored'>
  /** Absent in a host that only records runs. */
  readonly due?: { readonly store: Pick<DispatchStore, 'countDue'>; readonly channels: readonly string[] }
}

const MAX_STEPS = 1_500
const MAX_DUE = 10_000
const PAGE = 500

const CHECKS: Checks<StatisticsOptions> = {
  tenant,
  windowMs: whole(STEP_MS.minute, KEPT_MS.day),
  stepMs: matching(
    (value) =>
      Number.isInteger(value) &&
      Number(value) >= STEP_MS.minute &&
      Number(value) <= STEP_MS.day &&
      Number(value) % STEP_MS.minute === 0,
    'must be whole minutes in milliseconds, up to one day',
    shown,
  ),
}

export function statisticsOf({ records, workers, clock, counter, due }: StatisticsDeps): ReadStatistics {
  return async (options = {}) => {
    const read = readOptions('stats', options, CHECKS, timeProblems)
    const { tenant = 'default', windowMs = STEP_MS.hour, stepMs = STEP_MS.minute } = read
    const step = storedStep(stepMs)
    const until = clock.now() - (clock.now() % stepMs) + stepMs
    const query = { tenant, step, since: until - windowMs, until }
    // Copied before the read: what is stored meanwhile is in the copy or in the store.
    const unstored = counter.unstored(tenant, step)
    const [rows, dueNow, workersAlive] = await Promise.all([
      readRows(query, records),
      due && countDue(tenant, due),
      workers.countWorkers(),
    ])
    const buckets = Array.from({ length: windowMs / stepMs }, noCounts)
    for (const row of newestOf([...rows, ...unstored])) {
      const bucket: Counts | undefined = buckets[Math.floor((row.startsAt - query.since) / stepMs)]
      if (bucket) addCounts(bucket, row.counts)
    }
    return {
      ...{ windowMs, stepMs },
      buckets: buckets.map((counts, at) => viewCounts(query.since + at * stepMs, counts)),
      ...(dueNow && { due: dueNow }),
      workersAlive,
    }
  }
}

/** The row with the highest revision of each counter, whose rows have one bucket. */
function newestOf(rows: readonly StatisticsRow[]): Iterable<StatisticsRow> {
  const newest = new Map<string, StatisticsRow>()
  for (const row of rows) {
    const other = newest.get(row.counterId)
    if (!other || row.revision > other.revision) newest.set(row.counterId, row)
  }
  return newest.values()
}

function timeProblems(given: GivenOptions): readonly ConfigProblem[] {
  const { windowMs = STEP_MS.hour, stepMs = STEP_MS.minute } = given
  // Other values have a problem of their own.
  if (typeof windowMs !== 'number' || typeof stepMs !== 'number' || !(stepMs > 0) || windowMs > KEPT_MS.day) return []
  if (windowMs % stepMs !== 0)
    return [{ field: 'windowMs', detail: `is ${windowMs}; must be a multiple of the step, ${stepMs}` }]
  if (windowMs / stepMs > MAX_STEPS) return [{ field: 'stepMs', detail: `is too short: more than ${MAX_STEPS} steps` }]
  const step = storedStep(stepMs)
  if (windowMs <= KEPT_MS[step]) return []
  const detail = `is too short for this window: counts by ${step} are kept for ${KEPT_MS[step] / STEP_MS.day} days`
  return [{ field: 'stepMs', detail }]
}

/** The longest stored step of which the buckets consist. */
function storedStep(stepMs: number): StatisticsStep {
  if (stepMs === STEP_MS.day) return 'day'
  return stepMs % STEP_MS.hour === 0 ? 'hour' : 'minute'
}

async function readRows(
  query: Omit<StatisticsQuery, 'limit' | 'cursor'>,
  records: Pick<StatisticsRecords, 'list'>,
): Promise<readonly StatisticsRow[]> {
  const rows: StatisticsRow[] = []
  let cursor: string | undefined
  do {
    const page = await records.list({ ...query, limit: PAGE, cursor })
    rows.push(...page.items)
    cursor = page.nextCursor
  } while (cursor !== undefined)
  return rows
}

async function countDue(tenant: string, { store, channels }: NonNullable<StatisticsDeps['due']>): Promise<DueNow> {
  const { count, oldestMs } = await store.countDue({ tenant, channels, limit: MAX_DUE + 1 })
  return { count: Math.min(count, MAX_DUE), isMore: count > MAX_DUE, ...(oldestMs !== undefined && { oldestMs }) }
}
