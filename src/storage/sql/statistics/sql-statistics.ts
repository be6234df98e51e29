import type {
  NewStatisticsRow,
  StatisticsRow,
  StatisticsStep,
  StatisticsStore,
} from '../../../ports/statistics-store.ts'
import { compoundKey } from '../../rules/compound-key.ts'
import { firstVersion, NOW, newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { columnsOf, Parameters, readRecord, tableAlong } from '../connection/dialects.ts'
import { cursorOf, filledPage, type IndexScan, positionOf, scanText } from '../connection/keyset-pagination.ts'
import { removalParts } from '../connection/removal-parts.ts'
import { type AgedTable, removeAged } from '../connection/remove-aged.ts'
import { rowsByKey } from '../connection/rows-by-key.ts'
import type { StatisticsRecord } from '../schema/records.ts'

/** Rows removed besides twice the rows that are added. */
const LEAST_REMOVED = 100

/** Dead workers that a new worker removes. */
const WORKERS_REMOVED = 20

/** Further workers are not counted. */
const MAX_WORKERS = 10_000

const ALIVE: AgedTable<'workers'> = { table: 'workers', index: 'alive', at: 'alive_until' }
const EXPIRING: AgedTable<'statistics'> = { table: 'statistics', index: 'expiring', at: 'expires_at' }

export function sqlStatistics(db: Database): StatisticsStore {
  const removeSome = removalParts()
  const removeWorkers = removalParts()
  return {
    async putStatistics(rows) {
      await db.sync()
      const now = db.now()
      // A write that was late conflicts, and finds the higher revision.
      await retryOnConflict(async () => {
        const stored = await rowsByKey('statistics', rows.map(keyOf), db)
        const before = new Map(stored.map((record) => [textOf(record), record]))
        const changes = newChanges()
        for (const row of rows) {
          const found = before.get(textOf(keyOf(row)))
          const record = { ...keyOf(row), revision: row.revision, counts: JSON.stringify(row.counts) }
          if (!found) {
            const expires_at = Math.ceil(now + row.keptForMs)
            changes.insert('statistics', { ...record, expires_at, version: firstVersion() })
          } else if (found.revision < row.revision) {
            changes.update('statistics', { ...record, expires_at: found.expires_at, version: found.version })
          }
        }
        await db.write(changes)
      })
      const limit = LEAST_REMOVED + 2 * rows.length
      await removeSome('', limit, (from, most) => removeAged(EXPIRING, { forMs: 0, limit: most }, from, db))
    },

    async listStatistics({ tenant, step, since, until, limit, cursor }) {
      const scan: IndexScan = {
        ...{ table: 'statistics', index: 'by_time', at: 'starts_at', id: 'counter_id' },
        keys: [
          ['tenant', tenant],
          ['step', step],
        ],
      }
      return filledPage(limit, cursor, async (own, amount) => {
        const parameters = new Parameters(db.dialect)
        const range = { isNewestFirst: false, since, until, after: positionOf(own) }
        const text = scanText(scan, range, columnsOf('statistics', 'r', db.dialect), amount, parameters, db)
        const found = await db.scan<Readonly<Record<string, unknown>>>(text, parameters.values)
        const entries = found.map((each) => {
          const record = readRecord('statistics', each)
          return { cursor: cursorOf(record.starts_at, record.counter_id), item: rowOf(record) }
        })
        return { entries, isEnd: entries.length < amount }
      })
    },

    async recordHeartbeat({ workerId, aliveForMs }) {
      await db.sync()
      const now = db.now()
      const isNew = await retryOnConflict(async () => {
        const [stored] = await rowsByKey('workers', [{ worker_id: workerId }], db)
        const record = { worker_id: workerId, alive_until: Math.ceil(now + aliveForMs) }
        const changes = newChanges()
        if (stored && aliveForMs === 0) changes.remove('workers', { worker_id: workerId, version: stored.version })
        else if (stored) changes.update('workers', { ...record, version: stored.version })
        else if (aliveForMs > 0) changes.insert('workers', { ...record, version: firstVersion() })
        await db.write(changes)
        return !stored
      })
      // Not at every heartbeat: under an old snapshot, each leaves a dead index entry that a removal would read.
      if (isNew)
        await removeWorkers('', WORKERS_REMOVED, (from, limit) => removeAged(ALIVE, { forMs: 0, limit }, from, db))
    },

    async countWorkers() {
      await db.sync()
      const { table, index, at } = ALIVE
      const own = tableAlong({ table, alias: 'r', index }, db.dialect, db.nameOf)
      const some = `select r.${at} from ${own} where r.${at} > ${NOW} order by r.${at} limit ${MAX_WORKERS}`
      const [row] = await db.scan<{ readonly alive: unknown }>(`select count(*) as alive from (${some}) as w`, [])
      return Number(row?.alive)
    },
  }
}

type RowKey = Pick<StatisticsRecord, 'counter_id' | 'starts_at' | 'step' | 'tenant'>

function keyOf({ counterId, startsAt, step, tenant }: StatisticsRow | NewStatisticsRow): RowKey {
  return { counter_id: counterId, starts_at: startsAt, step, tenant }
}

function textOf({ counter_id, starts_at, step, tenant }: RowKey): string {
  return compoundKey(counter_id, String(starts_at), step, tenant)
}

function rowOf({ tenant, step, starts_at, counter_id, revision, counts }: StatisticsRecord): StatisticsRow {
  return {
    ...{ tenant, step: step as StatisticsStep, startsAt: starts_at, counterId: counter_id, revision },
    counts: JSON.parse(counts),
  }
}
