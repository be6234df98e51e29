import type { Page } from '../../../ports/dispatch-query.ts'
import { compoundKey } from '../../rules/compound-key.ts'
import { type Changes, firstVersion } from '../changes.ts'
import { ifReadable } from '../json-values.ts'
import { type CursorFormat, readPage } from '../pages.ts'
import type { Records } from '../records.ts'
import { type AgedRecords, agedRemover } from './aged-records.ts'
import type { Has, KindName, SortName } from './kinds.ts'
import {
  columnOf,
  GLOBAL,
  type NewRecord,
  PLUGIN_RECORDS,
  recordOf,
  rowOf,
  type StoredRecord,
  type TenantOf,
  tenantIn,
} from './record-rows.ts'
import { splitTimedText, timedText } from './timed-text.ts'

/** Records of one kind of `PLUGIN_KINDS`. */
export interface PluginRecords<Name extends KindName> {
  /** Finds the records that have any of the texts as their key or as a sort text. */
  find(by: SortName<Name> | 'key', texts: readonly RecordText<Name>[]): Promise<readonly StoredRecord<Name>[]>
  /** @param itemOf `undefined` for a record that does not match. */
  list<Item>(range: RecordRange<Name>, itemOf: (record: StoredRecord<Name>) => Item | undefined): Promise<Page<Item>>
  /** Counts records that have not expired, up to a limit. */
  countUnexpired(limit: number): Promise<number>
  /** @param stored The record that it replaces. */
  put(changes: Changes, record: NewRecord<Name>, stored: Pick<StoredRecord<Name>, 'version'> | undefined): void
  remove(changes: Changes, stored: Pick<StoredRecord<Name>, 'tenant' | 'key' | 'version'>): void
  /** Removes records by their expiry, the oldest first. Resolves to their number: fewer than `limit` means that none is left. */
  removeAged(aged: AgedRecords): Promise<number>
}

/** A key or a sort text, of a tenant unless the kind is global. */
export type RecordText<Name extends KindName> = Has<Name, 'global'> extends true ? string : TenantText

interface TenantText {
  readonly tenant: string
  readonly text: string
}

/** Records of a tenant whose text has these names, in the order of its time, and then of the rest or the key. */
export type RecordRange<Name extends KindName> = TenantOf<Name> & {
  readonly by: SortName<Name> | 'key'
  /** Default: no names. */
  readonly names?: readonly string[]
  /** Default: no limit. */
  readonly since?: number
  readonly until?: number
  readonly isNewestFirst: boolean
  readonly limit: number
  readonly cursor?: string | undefined
}

export function pluginRecords<Name extends KindName>(kind: Name, records: Records): PluginRecords<Name> {
  const removeAged = agedRemover(records)
  return {
    async find(by, texts) {
      if (texts.length === 0) return []
      const wanted = texts.map((one: string | TenantText) =>
        typeof one === 'string' ? { tenant: GLOBAL, text: one } : one,
      )
      const unique = new Map(wanted.map((one) => [compoundKey(one.tenant, one.text), one]))
      const prefixes = [...unique.values()].map(({ tenant, text }) => [kind, tenant, text])
      const found = await records.read([{ kind: PLUGIN_RECORDS, ...indexOf(kind, by), with: prefixes }])
      return (found[PLUGIN_RECORDS] ?? []).map((row) => recordOf(kind, row))
    },
    list(range, itemOf) {
      const { by, names = [], since = 0, until = Number.MAX_SAFE_INTEGER, isNewestFirst, limit, cursor } = range
      const scan = {
        kind: PLUGIN_RECORDS,
        ...indexOf(kind, by),
        with: [[kind, tenantIn(range)]],
        from: [timedText(names, since)],
        until: [timedText(names, until)],
        isReverse: isNewestFirst,
      } as const
      return readPage(records, scan, {
        ...{ limit, cursor, cursors: textCursors(names, by === 'key') },
        itemsOf: async (found) => found.map((row) => ifReadable(() => itemOf(recordOf(kind, row)))),
      })
    },
    async countUnexpired(limit) {
      const { earliest: now } = await records.now()
      const unexpired = {
        kind: PLUGIN_RECORDS,
        index: 'expiring',
        with: [[kind]],
        from: [Math.floor(now) + 1],
      } as const
      return (await records.scan({ ...unexpired, columns: ['tenant', 'key'], limit })).found.length
    },
    put(changes, record, stored) {
      changes[stored ? 'update' : 'insert'](PLUGIN_RECORDS, rowOf(kind, record, stored?.version ?? firstVersion()))
    },
    remove(changes, { tenant, key, version }) {
      changes.remove(PLUGIN_RECORDS, { kind, tenant, key, version })
    },
    removeAged: (aged) => removeAged(kind, aged),
  }
}

function indexOf<Name extends KindName>(kind: Name, by: SortName<Name> | 'key'): { readonly index?: string } {
  const column = columnOf(kind, by)
  return column === 'key' ? {} : { index: `by_${column}` }
}

/** Cursors of lists by a text of these names and a time: the time, and the key or what follows the time in it. */
function textCursors(names: readonly string[], isByKey: boolean): CursorFormat {
  return {
    cursorOf([text, key]) {
      const { at, rest } = splitTimedText(String(text), names)
      return `${at} ${isByKey ? rest : key}`
    },
    positionOf(cursor) {
      const [, at, id] = /^(\d{1,16}) (.+)$/s.exec(cursor) ?? []
      if (at === undefined || id === undefined) return undefined
      const text = timedText(names, Number(at))
      return isByKey ? [text + id] : [text, id]
    },
  }
}
