import { compoundKey } from '../../../model/compound-key.ts'
import type { PluginRecord, RecordStore, RecordText } from '../../../ports/record-store.ts'
import { committer } from '../commit-unit.ts'
import { ifReadable, readable } from '../json-values.ts'
import { type CursorFormat, readPage } from '../pages.ts'
import type { Records } from '../records.ts'
import { agedRemover } from './aged-records.ts'
import { recordChanger } from './change-records.ts'
import { PLUGIN_RECORDS, type RecordRow, recordOf } from './record-rows.ts'

/** Columns of the sort texts, in their order. */
const SORT_COLUMNS = ['a', 'b', 'c', 'd'] as const

/** Records of any kind, for plugins. */
export function engineRecords(records: Records): RecordStore {
  const removeAged = agedRemover(records)

  return {
    now: async () => (await records.now()).earliest,

    async findRecords({ kind, by, texts }) {
      if (texts.length === 0) return []
      const unique = new Map(texts.map(({ tenant, text }) => [compoundKey(tenant, text), [kind, tenant, text]]))
      const { plugin_records: found = [] } = await records.read([
        { kind: PLUGIN_RECORDS, ...indexOf(by), with: [...unique.values()] },
      ])
      return found.map(recordOf)
    },

    async listRecords({ kind, tenant, by, is, from, until, isReverse, limit, cursor, where }) {
      const range = is === undefined && {
        ...(from !== undefined && { from: [from] }),
        ...(until !== undefined && { until: [until] }),
      }
      // Records of one text are in the order of their keys.
      const prefix = is === undefined ? [kind, tenant] : [kind, tenant, is]
      const scan = { kind: PLUGIN_RECORDS, ...indexOf(by), with: [prefix], ...range, isReverse } as const
      return readPage(records, scan, {
        ...{ limit, cursor, cursors: by === 'key' || is !== undefined ? KEY_CURSORS : TEXT_CURSORS },
        itemsOf: async (found) =>
          found.map((row) =>
            ifReadable(() => {
              const record = readRecord(row)
              return where?.(record) === false ? undefined : record
            }),
          ),
      })
    },

    async countUnexpired(kind, limit) {
      const { earliest: now } = await records.now()
      const unexpired = { index: 'expiring', with: [[kind]], from: [Math.floor(now) + 1] } as const
      const columns = ['tenant', 'key']
      return (await records.scan({ kind: PLUGIN_RECORDS, ...unexpired, columns, limit })).found.length
    },

    changeRecords: recordChanger(records),

    removeRecords: ({ kind, tenant, expiredForMs, limit }) => removeAged(kind, { tenant, forMs: expiredForMs, limit }),

    commitUnit: committer(records),
  }
}

function indexOf(by: RecordText): { readonly index?: string } {
  return by === 'key' ? {} : { index: `by_${SORT_COLUMNS[by]}` }
}

/** @throws {SallyportError} `record_unreadable`. */
function readRecord(row: RecordRow): PluginRecord {
  readable(row.body)
  return recordOf(row)
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
