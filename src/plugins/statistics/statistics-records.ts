import { isSallyportError } from '../../errors.ts'
import type { JsonObject } from '../../model/json.ts'
import type { Page } from '../../ports/dispatch-query.ts'
import type { PluginRecord, RecordDraft, RecordName, RecordStore } from '../../ports/record-store.ts'
import { splitTimedText, timedText } from '../timed-text.ts'

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
  /** Everything that it has counted in the bucket until now. */
  readonly counts: JsonObject
}

/** A row to store. */
export interface NewStatisticsRow extends StatisticsRow {
  /** Milliseconds until it expires, by the store's clock. */
  readonly keptForMs: number
}

/** Query for rows, the oldest bucket first. */
export interface StatisticsQuery extends Pick<StatisticsRow, 'tenant' | 'step'> {
  /** The bucket starts at or after this instant, epoch milliseconds. */
  readonly since: number
  /** The bucket starts before this instant, epoch milliseconds. */
  readonly until: number
  readonly limit: number
  /** `nextCursor` of the previous page. */
  readonly cursor?: string | undefined
}

/** Counts by bucket. Each process writes rows of its own, so that counting never waits for another process. */
export interface StatisticsRecords {
  /**
   * Stores rows, and removes some that have expired, more than it adds. A row replaces the stored one of the same tenant, step, start and
   * counter if its revision is higher, and is ignored otherwise. A caller that got no answer may repeat the call.
   *
   * @param rows At most 100.
   */
  put(rows: readonly NewStatisticsRow[]): Promise<void>
  list(query: StatisticsQuery): Promise<Page<StatisticsRow>>
}

const KIND = 'statistics'

/** Rows removed besides twice the rows that are added. */
const LEAST_REMOVED = 100

export function statisticsRecords(store: RecordStore): StatisticsRecords {
  return {
    async put(rows) {
      const now = await store.now()
      await store.changeRecords(rows.map(nameOf), (draft) => {
        for (const row of rows) putRow(row, draft, now)
      })
      await store.removeRecords({ kind: KIND, expiredForMs: 0, limit: LEAST_REMOVED + 2 * rows.length })
    },
    async list({ tenant, step, since, until, ...page }) {
      const range = { from: timedText([step], since), until: timedText([step], until) }
      const found = await store.listRecords({ kind: KIND, tenant, by: 'key', isReverse: false, ...range, ...page })
      return { ...found, items: found.items.map((record) => rowOf(record, step)) }
    },
  }
}

function putRow({ revision, counts, keptForMs, ...row }: NewStatisticsRow, draft: RecordDraft, now: number): void {
  const name = nameOf(row)
  const stored = draft.get(name)
  if (stored && revision <= (revisionOf(stored) ?? 0)) return
  const expiresAt = stored?.expiresAt ?? Math.ceil(now + keptForMs)
  draft.put({ ...name, sort: [], expiresAt, body: { revision, counts } })
}

/** `undefined`: the record cannot be read, and is replaced. */
function revisionOf(record: PluginRecord): number | undefined {
  try {
    return bodyOf(record).revision
  } catch (cause) {
    if (isSallyportError(cause) && cause.code === 'record_unreadable') return undefined
    throw cause
  }
}

/** The key is the step, the start and the counter. */
function nameOf({
  tenant,
  step,
  startsAt,
  counterId,
}: Pick<StatisticsRow, 'tenant' | 'step' | 'startsAt' | 'counterId'>): RecordName {
  return { kind: KIND, tenant, key: timedText([step], startsAt) + counterId }
}

function rowOf(record: PluginRecord, step: StatisticsStep): StatisticsRow {
  const { at, rest } = splitTimedText(record.key, [step])
  return { tenant: record.tenant, step, startsAt: at, counterId: rest, ...bodyOf(record) }
}

function bodyOf({ body }: PluginRecord): Pick<StatisticsRow, 'revision' | 'counts'> {
  return body as unknown as Pick<StatisticsRow, 'revision' | 'counts'>
}
