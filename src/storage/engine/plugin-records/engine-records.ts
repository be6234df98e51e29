import { copyJson } from '../../../model/json.ts'
import type { PluginRecord, RecordStore } from '../../../ports/record-store.ts'
import { Changes, firstVersion, retryOnConflict } from '../changes.ts'
import { committer } from '../commit-unit.ts'
import { ifReadable, readable } from '../json-values.ts'
import type { RecordOf } from '../kinds.ts'
import { type CursorFormat, readPage } from '../pages.ts'
import type { Records } from '../records.ts'
import { agedRemover } from './aged-records.ts'
import { PLUGIN_RECORDS, rowOfRecord, SORT_COLUMNS } from './record-rows.ts'

/** Records of any kind, for plugins. */
export function engineRecords(records: Records): RecordStore {
  const removeAged = agedRemover(records)

  async function find(kind: string, tenant: string, keys: readonly string[]): Promise<readonly PluginRecord[]> {
    if (keys.length === 0) return []
    const wanted = { kind: PLUGIN_RECORDS, with: [...new Set(keys)].map((key) => [kind, tenant, key]) } as const
    const { plugin_records: found = [] } = await records.read([wanted])
    return found.map(recordOfRow)
  }

  return {
    findRecords: find,

    listRecords({ kind, tenant, by, is, from, until, isReverse, limit, cursor }) {
      const index = by === 'key' ? {} : { index: `by_${SORT_COLUMNS[by]}` }
      const range = is === undefined && {
        ...(from !== undefined && { from: [from] }),
        ...(until !== undefined && { until: [until] }),
      }
      // Records of one text are in the order of their keys.
      const prefix = is === undefined ? [kind, tenant] : [kind, tenant, is]
      const scan = { kind: PLUGIN_RECORDS, ...index, with: [prefix], ...range, isReverse } as const
      return readPage(records, scan, {
        ...{ limit, cursor, cursors: by === 'key' || is !== undefined ? KEY_CURSORS : TEXT_CURSORS },
        itemsOf: async (found) => found.map((row) => ifReadable(() => readRecord(row))),
      })
    },

    changeRecord(name, decide) {
      return retryOnConflict(async () => {
        const { kind, tenant, key } = name
        const [stored] = await find(kind, tenant, [key])
        const next = decide(stored)
        if (next === stored) return next
        const changes = new Changes()
        if (next) {
          const row = rowOfRecord({ ...next, kind, tenant, key }, stored?.version ?? firstVersion())
          changes[stored ? 'update' : 'insert'](PLUGIN_RECORDS, row)
        } else if (stored) {
          changes.remove(PLUGIN_RECORDS, { kind, tenant, key, version: stored.version })
        }
        await changes.commit(records)
        return next
      })
    },

    removeRecords: ({ kind, tenant, expiredForMs, limit }) => removeAged(kind, { tenant, forMs: expiredForMs, limit }),

    commitUnit: committer(records),
  }
}

function recordOfRow(row: RecordOf<'plugin_records'>): PluginRecord {
  const { kind, tenant, key, a, b, c, d, expires_at, version } = row
  return {
    ...{ kind, tenant, key, sort: [a, b, c, d], version },
    ...(expires_at !== null && { expiresAt: expires_at }),
    // Read when it is used: a record is removed or replaced without it.
    get body() {
      return copyJson(readable(row.body)) as PluginRecord['body']
    },
  }
}

/** @throws {SallyportError} `record_unreadable`. */
function readRecord(row: RecordOf<'plugin_records'>): PluginRecord {
  readable(row.body)
  return recordOfRow(row)
}

/** The length of the key, and the key. */
const KEY_CURSORS: CursorFormat = {
  cursorOf: ([key]) => `${String(key).length} ${key}`,
  positionOf(cursor) {
    const [key, rest] = splitCursor(cursor)
    return key && rest === '' ? [key] : undefined
  },
}

/** The length of the text, the text and the key. */
const TEXT_CURSORS: CursorFormat = {
  cursorOf: ([text, key]) => `${String(text).length} ${text}${key}`,
  positionOf(cursor) {
    const [text, key] = splitCursor(cursor)
    return text && key ? [text, key] : undefined
  },
}

/** The text of the length that the cursor begins with, and what follows it. */
function splitCursor(cursor: string): readonly [text: string, rest: string] | readonly [] {
  const [, length, texts] = /^(\d{1,3}) (.+)$/s.exec(cursor) ?? []
  if (length === undefined || texts === undefined || texts.length < Number(length)) return []
  return [texts.slice(0, Number(length)), texts.slice(Number(length))]
}
