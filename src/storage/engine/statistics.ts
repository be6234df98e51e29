import type { NewStatisticsRow, StatisticsStore } from '../../ports/statistics-store.ts'
import { compoundKey } from '../rules/compound-key.ts'
import { Changes, retryOnConflict } from './changes.ts'
import { ifReadable } from './json-values.ts'
import { pluginRecords, type RecordText } from './plugin-records/plugin-records.ts'
import { splitTimedText, timedText } from './plugin-records/timed-text.ts'
import type { Records } from './records.ts'

/** Rows removed besides twice the rows that are added. */
const LEAST_REMOVED = 100

/** Dead workers that a new worker removes. */
const WORKERS_REMOVED = 20

/** Further workers are not counted. */
const MAX_WORKERS = 10_000

export function engineStatistics(records: Records): StatisticsStore {
  const statistics = pluginRecords('statistics', records)
  const heartbeats = pluginRecords('heartbeats', records)
  return {
    async putStatistics(rows) {
      const { earliest: now } = await records.now()
      // A write that was late conflicts, and finds the higher revision.
      await retryOnConflict(async () => {
        const stored = await statistics.find('key', rows.map(keyOf))
        const before = new Map(stored.map((record) => [compoundKey(record.tenant, record.key), record]))
        const changes = new Changes()
        for (const row of newest(rows)) {
          const { tenant, text: key } = keyOf(row)
          const found = before.get(compoundKey(tenant, key))
          const revision = found && ifReadable(() => found.body.revision)
          if (revision !== undefined && revision >= row.revision) continue
          const expiresAt = found?.expiresAt ?? Math.ceil(now + row.keptForMs)
          const body = { revision: row.revision, counts: row.counts }
          statistics.put(changes, { tenant, key, expiresAt, body }, found)
        }
        await changes.commit(records)
      })
      await statistics.removeAged({ forMs: 0, limit: LEAST_REMOVED + 2 * rows.length })
    },

    listStatistics: ({ step, ...query }) =>
      statistics.list({ ...query, by: 'key', names: [step], isNewestFirst: false }, ({ tenant, key, body }) => {
        const { at, rest } = splitTimedText(key, [step])
        return { tenant, step, startsAt: at, counterId: rest, ...body }
      }),

    async recordHeartbeat({ workerId, aliveForMs }) {
      const { earliest: now } = await records.now()
      const isNew = await retryOnConflict(async () => {
        const [stored] = await heartbeats.find('key', [workerId])
        const changes = new Changes()
        if (aliveForMs > 0)
          heartbeats.put(changes, { key: workerId, expiresAt: Math.ceil(now + aliveForMs), body: {} }, stored)
        else if (stored) heartbeats.remove(changes, stored)
        await changes.commit(records)
        return !stored
      })
      // Not at every heartbeat: in a database with an old snapshot, each leaves a dead index entry that a removal would read.
      if (isNew) await heartbeats.removeAged({ forMs: 0, limit: WORKERS_REMOVED })
    },

    countWorkers: () => heartbeats.countUnexpired(MAX_WORKERS),
  }
}

/** The bucket and the counter. */
function keyOf({ tenant, step, startsAt, counterId }: NewStatisticsRow): RecordText<'statistics'> {
  return { tenant, text: timedText([step], startsAt) + counterId }
}

/** Of each bucket and counter, the row of the highest revision. */
function newest(rows: readonly NewStatisticsRow[]): Iterable<NewStatisticsRow> {
  const byKey = new Map<string, NewStatisticsRow>()
  for (const row of rows) {
    const key = compoundKey(row.tenant, keyOf(row).text)
    if (row.revision > (byKey.get(key)?.revision ?? 0)) byKey.set(key, row)
  }
  return byKey.values()
}
