import { copyJson, type JsonObject } from '../../model/json.ts'
import type { Clock } from '../../ports/clock.ts'
import type { NewStatisticsRow, StatisticsStore } from '../../ports/statistics-store.ts'
import { compoundKey } from '../rules/compound-key.ts'
import { cursorAt, isListedBelow, type ListPosition, readRange } from './list-range.ts'
import { SortedList } from './sorted-list.ts'

interface Row extends Omit<NewStatisticsRow, 'keptForMs'> {
  readonly position: ListPosition
  readonly expiresAt: number
}

export function memoryStatistics(clock: Pick<Clock, 'now'>): StatisticsStore {
  /** Rows of a step expire in the order of their insertion, unless a process is late. */
  const byKey = { minute: new Map<string, Row>(), hour: new Map<string, Row>(), day: new Map<string, Row>() }
  const bySeries = new Map<string, SortedList<Row>>()
  const aliveUntil = new Map<string, number>()
  let added = 0

  function unlist(row: Row): void {
    const series = seriesOf(row)
    const list = bySeries.get(series)
    list?.delete(row)
    if (!list?.first) bySeries.delete(series)
  }

  function removeExpired(now: number, most: number): void {
    for (const rows of Object.values(byKey)) {
      let left = most
      for (const [key, row] of rows) {
        if (row.expiresAt > now || left-- <= 0) break
        unlist(row)
        rows.delete(key)
      }
    }
  }

  return {
    async putStatistics(rows) {
      const now = clock.now()
      for (const { keptForMs, ...given } of rows) {
        const key = compoundKey(seriesOf(given), String(given.startsAt), given.counterId)
        const before = byKey[given.step].get(key)
        if (before && before.revision >= given.revision) continue
        if (before) unlist(before)
        const position = before?.position ?? { at: given.startsAt, sequence: ++added }
        const row = {
          ...given,
          counts: copyJson(given.counts),
          position,
          expiresAt: before?.expiresAt ?? now + keptForMs,
        }
        byKey[row.step].set(key, row)
        const series = seriesOf(row)
        const list =
          bySeries.get(series) ?? new SortedList<Row>((one, other) => isListedBelow(one.position, other.position))
        bySeries.set(series, list)
        list.add(row)
      }
      removeExpired(now, 2 * rows.length + 1)
    },

    async listStatistics({ limit, ...query }) {
      const list = bySeries.get(seriesOf(query))
      if (!list) return { items: [] }
      const found: Row[] = []
      for (const row of readRange(list, ({ position }) => position, 'oldest', query)) {
        const last = found.at(-1)
        if (last && found.length >= limit) return { items: found.map(read), nextCursor: cursorAt(last.position) }
        found.push(row)
      }
      return { items: found.map(read) }
    },

    async recordHeartbeat({ workerId, aliveForMs }) {
      const now = clock.now()
      aliveUntil.set(workerId, now + aliveForMs)
      for (const [id, until] of aliveUntil) if (until <= now) aliveUntil.delete(id)
    },

    async countWorkers() {
      const now = clock.now()
      return [...aliveUntil.values()].filter((until) => until > now).length
    },
  }
}

function seriesOf({ tenant, step }: Pick<Row, 'tenant' | 'step'>): string {
  return compoundKey(tenant, step)
}

function read({ position: _, expiresAt: __, counts, ...row }: Row) {
  return { ...row, counts: copyJson<JsonObject>(counts) }
}
