import type { Measure } from '../../model/measurement.ts'
import type { Clock } from '../../ports/clock.ts'
import type { IdGenerator } from '../../ports/id-generator.ts'
import type { PluginCore } from '../plugin.ts'
import { addCounts, type Counts, countMeasurement, noCounts } from './counts.ts'
import type { NewStatisticsRow, StatisticsRecords, StatisticsRow, StatisticsStep } from './statistics-records.ts'

/** Counts what this process does, and stores the counts. Nothing waits for it. */
export interface StatisticsCounter {
  readonly measure: Measure
  /** Stores all counts. Never rejects: a failure is logged, and the counts are kept for the next time. */
  flush(): Promise<void>
  /** True if a flush has counts to store. */
  hasCounts(): boolean
  /** Counts that are not stored yet. Each replaces the stored row of the same key. */
  unstored(tenant: string, step: StatisticsStep): readonly StatisticsRow[]
}

export interface CounterDeps extends Pick<PluginCore, 'report' | 'logger'> {
  readonly records: Pick<StatisticsRecords, 'put'>
  readonly clock: Pick<Clock, 'now' | 'after'>
  readonly ids: IdGenerator
}

export const STEP_MS: Readonly<Record<StatisticsStep, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

/** Minutes are kept for two days, hours for ninety, days for four hundred. */
export const KEPT_MS: Readonly<Record<StatisticsStep, number>> = {
  minute: 2 * STEP_MS.day,
  hour: 90 * STEP_MS.day,
  day: 400 * STEP_MS.day,
}

const STEPS = ['minute', 'hour', 'day'] as const satisfies readonly StatisticsStep[]

const EVERY_MS = 5_000

/** Tenants whose counts are in memory. What further tenants do is not counted until others are stored. */
const MAX_TENANTS = 10_000

/** Rows in memory that are not stored. While the store fails, what needs further rows is not counted. */
const MAX_UNSTORED = 40_000

/** The limit of {@link StatisticsRecords.put}. */
const AT_ONCE = 100

interface Row {
  readonly tenant: string
  readonly step: StatisticsStep
  readonly startsAt: number
  readonly counterId: string
  readonly counts: Counts
  revision: number
}

type Rows = Readonly<Record<StatisticsStep, Row>>

/**
 * Counts by tenant, minute, hour and day, and stores changed counts at most every five seconds, each as the total of its bucket: to repeat a
 * write changes nothing. Each row has an id of its own, so the clock may be set back.
 */
export function statisticsCounter(deps: CounterDeps): StatisticsCounter {
  const { records, clock, ids } = deps
  /** Rows of the minute, the hour and the day of a tenant's last measurement. */
  const current = new Map<string, Rows>()
  /** Counts that are not yet added to their rows: a measurement is counted once, not in each of three rows. */
  const pending = new Map<Rows, Counts>()
  /** Rows with counts that are not stored. */
  const changed = new Set<Row>()
  let dropped = 0
  let writing: Promise<void> | undefined
  let stopTimer: (() => void) | undefined

  function rowsOf(tenant: string, now: number): Rows | undefined {
    const found = current.get(tenant)
    if (found?.minute.startsAt === startOf('minute', now)) return found
    if ((!found && current.size >= MAX_TENANTS) || changed.size >= MAX_UNSTORED) return undefined
    const rowIn = (step: StatisticsStep): Row =>
      found?.[step].startsAt === startOf(step, now) ? found[step] : newRow(tenant, step, now, ids)
    const rows = { minute: rowIn('minute'), hour: rowIn('hour'), day: rowIn('day') }
    current.set(tenant, rows)
    return rows
  }

  function pendingOf(rows: Rows): Counts {
    const found = pending.get(rows)
    if (found) return found
    const counts = noCounts()
    pending.set(rows, counts)
    for (const step of STEPS) {
      rows[step].revision++
      changed.add(rows[step])
    }
    return counts
  }

  /** Must precede every read of a row: its revision is already that of the pending counts. */
  function addPending(): void {
    for (const [rows, counts] of pending) for (const step of STEPS) addCounts(rows[step].counts, counts)
    pending.clear()
  }

  function setTimer(): void {
    stopTimer ??= clock.after(EVERY_MS, () => {
      stopTimer = undefined
      void flush()
    })
  }

  async function flush(): Promise<void> {
    while (writing) await writing
    stopTimer?.()
    stopTimer = undefined
    writing = write().finally(() => {
      writing = undefined
      if (changed.size > 0) setTimer()
    })
    await writing
  }

  async function write(): Promise<void> {
    if (dropped > 0) deps.logger.log('warn', 'statistics.dropped', { measurements: dropped })
    dropped = 0
    try {
      const rows = [...changed]
      for (let from = 0; from < rows.length; from += AT_ONCE) await put(rows.slice(from, from + AT_ONCE))
      forgetIdle()
    } catch (cause) {
      deps.report(cause, { operation: 'store' }, { level: 'error', event: 'statistics.write_failed' })
    }
  }

  async function put(rows: readonly Row[]): Promise<void> {
    addPending()
    const copies = rows.map((row): NewStatisticsRow => ({ ...readRow(row), keptForMs: KEPT_MS[row.step] }))
    await records.put(copies)
    for (const [at, row] of rows.entries()) if (copies[at]?.revision === row.revision) changed.delete(row)
  }

  function forgetIdle(): void {
    const minuteAt = startOf('minute', clock.now())
    for (const [tenant, { minute }] of current) if (minute.startsAt !== minuteAt) current.delete(tenant)
  }

  return {
    measure(measurement) {
      const rows = rowsOf(measurement.tenant, clock.now())
      if (rows) countMeasurement(pendingOf(rows), measurement)
      else dropped++
      setTimer()
    },
    flush,
    hasCounts: () => changed.size > 0,
    unstored(tenant, step) {
      addPending()
      return [...changed].filter((row) => row.tenant === tenant && row.step === step).map(readRow)
    },
  }
}

function newRow(tenant: string, step: StatisticsStep, now: number, ids: IdGenerator): Row {
  return { tenant, step, startsAt: startOf(step, now), counterId: ids.next('cnt'), counts: noCounts(), revision: 0 }
}

function startOf(step: StatisticsStep, now: number): number {
  return now - (now % STEP_MS[step])
}

function readRow({ counts, ...row }: Row): StatisticsRow {
  return { ...row, counts: structuredClone({ ...counts }) }
}
