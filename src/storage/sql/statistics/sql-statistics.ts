import type { NewStatisticsRow, StatisticsStore } from '../../../ports/statistics-store.ts'
import { ifReadable } from '../../engine/json-values.ts'
import { splitTimedText, timedText } from '../../engine/plugin-records/timed-text.ts'
import { compoundKey } from '../../rules/compound-key.ts'
import { newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { pluginRecords, type RecordText } from '../plugin-records/plugin-records.ts'

/** Rows removed besides twice the rows that are added. */
const LEAST_REMOVED = 100

/** Dead workers that a new worker removes. */
const WORKERS_REMOVED = 20

/** Further workers are not counted. */
const MAX_WORKERS = 10_000

export function sqlStatistics(db: Database): StatisticsStore {
  const statistics = pluginRecords('statistics', db)
  const heartbeats = pluginRecords('heartbeats', db)
  return {
    async putStatistics(rows) {
      await db.sync()
      const now = db.now()
      // A write that was late conflicts, and finds the higher revision.
      await retryOnConflict(async () => {
        const stored = await statistics.find('key', rows.map(textOf))
        const before = new Map(stored.map((record) => [compoundKey(record.tenant, record.key), record]))
        const changes = newChanges()
        for (const row of rows) {
          const { tenant, text: key } = textOf(row)
          const found = before.get(compoundKey(tenant, key))
          const revision = found && ifReadable(() => found.body.revision)
          if (revision !== undefined && revision >= row.revision) continue
          const expiresAt = found?.expiresAt ?? Math.ceil(now + row.keptForMs)
          const body = { revision: row.revision, counts: row.counts }
          statistics.put(changes, { tenant, key, expiresAt, body }, found)
        }
        await db.write(changes)
      })
      await statistics.removeAged({ forMs: 0, limit: LEAST_REMOVED + 2 * rows.length })
    },

    listStatistics: ({ step, ...query }) =>
      statistics.list({ ...query, by: 'key', names: [step], isNewestFirst: false }, ({ tenant, key, body }) => {
        const { at, rest } = splitTimedText(key, [step])
        return { tenant, step, startsAt: at, counterId: rest, ...body }
      }),

    async recordHeartbeat({ workerId, aliveForMs }) {
      await db.sync()
      const now = db.now()
      const isNew = await retryOnConflict(async () => {
        const [stored] = await heartbeats.find('key', [workerId])
        const changes = newChanges()
        if (aliveForMs > 0)
          heartbeats.put(changes, { key: workerId, expiresAt: Math.ceil(now + aliveForMs), body: {} }, stored)
        else if (stored) heartbeats.remove(changes, stored)
        await db.write(changes)
        return !stored
      })
      // Not at every heartbeat: under an old snapshot, each leaves a dead index entry that a removal would read.
      if (isNew) await heartbeats.removeAged({ forMs: 0, limit: WORKERS_REMOVED })
    },

    async countWorkers() {
      await db.sync()
      return heartbeats.countUnexpired(MAX_WORKERS)
    },
  }
}

function textOf({ tenant, step, startsAt, counterId }: NewStatisticsRow): RecordText<'statistics'> {
  return { tenant, text: timedText([step], startsAt) + counterId }
}
