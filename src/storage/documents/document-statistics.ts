import type { Documents } from '../../ports/documents.ts'
import type { StatisticsRow, StatisticsStore } from '../../ports/statistics-store.ts'
import { timePart } from '../rules/time-part.ts'
import { documentKey, prefixOf } from './keys.ts'
import { readPage, walkDocuments } from './pages.ts'
import { type Transaction, transact } from './transaction.ts'

interface StoredRow extends StatisticsRow {
  readonly expiresAt: number
}

/** Keys of rows by the time when they expire: `expiring-statistics/<time>/<key>`. */
const EXPIRING = 'expiring-statistics/'

/** Heartbeats: `workers/<workerId>`. */
const WORKERS = 'workers/'

interface StoredWorker {
  readonly aliveUntil: number
}

/** Rows of one commit. */
const AT_ONCE = 20

export function documentStatistics(documents: Documents): StatisticsStore {
  async function put(row: StatisticsRow, keptForMs: number, tx: Transaction): Promise<void> {
    const key = rowKey(row)
    const before = await tx.get<StoredRow>(key)
    if (before && before.revision >= row.revision) return
    const expiresAt = before?.expiresAt ?? tx.now + Math.ceil(keptForMs)
    tx.put(key, { ...row, expiresAt })
    if (!before) tx.create(expiringKey(expiresAt, key), { key })
  }

  async function removeExpired(most: number): Promise<void> {
    const until = Math.floor(await documents.now()) + 1
    let left = most
    for await (const { key: entry, text } of walkDocuments(documents, EXPIRING, { first: 'oldest', until }, most)) {
      if (left-- <= 0) return
      const { key }: { readonly key: string } = JSON.parse(text)
      const row = await documents.get(key)
      const changes = row === undefined ? [] : [{ key, before: row, after: undefined }]
      await documents.commit([...changes, { key: entry, before: text, after: undefined }])
    }
  }

  return {
    async putStatistics(rows) {
      for (let from = 0; from < rows.length; from += AT_ONCE) {
        const some = rows.slice(from, from + AT_ONCE)
        await transact(documents, async (tx) => {
          for (const { keptForMs, ...row } of some) await put(row, keptForMs, tx)
        })
      }
      await removeExpired(2 * rows.length + 1)
    },

    listStatistics: ({ tenant, step, ...query }) =>
      readPage<StoredRow, StatisticsRow>(
        documents,
        prefixOf('statistics', tenant, step),
        { ...query, first: 'oldest' },
        { fits: () => true, read: async ({ expiresAt: _, ...row }) => row },
      ),

    async recordHeartbeat({ workerId, aliveForMs }) {
      const key = WORKERS + documentKey(workerId)
      const isNew = await transact(documents, async (tx) => {
        const before = await tx.get(key)
        const worker: StoredWorker = { aliveUntil: tx.now + aliveForMs }
        tx.put(key, aliveForMs > 0 ? worker : undefined)
        return before === undefined
      })
      if (!isNew) return
      const now = await documents.now()
      for await (const { key: other, text } of walkWorkers()) {
        if (aliveUntil(text) <= now) await documents.commit([{ key: other, before: text, after: undefined }])
      }
    },

    async countWorkers() {
      const now = await documents.now()
      let alive = 0
      for await (const { text } of walkWorkers()) if (aliveUntil(text) > now) alive++
      return alive
    },
  }

  /** By their names, not by time. */
  async function* walkWorkers() {
    let after: string | undefined
    for (;;) {
      const some = await documents.list(WORKERS, { limit: AT_ONCE, ...(after !== undefined && { after }) })
      yield* some
      after = some.at(-1)?.key
      if (some.length < AT_ONCE) return
    }
  }
}

function aliveUntil(text: string): number {
  return (JSON.parse(text) as StoredWorker).aliveUntil
}

function rowKey({ tenant, step, startsAt, counterId }: StatisticsRow): string {
  return `${prefixOf('statistics', tenant, step)}${timePart(startsAt)}/${documentKey(counterId)}`
}

function expiringKey(at: number, key: string): string {
  return `${EXPIRING}${timePart(at)}/${documentKey(key)}`
}
