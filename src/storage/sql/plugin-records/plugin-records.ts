import type { Page } from '../../../ports/dispatch-query.ts'
import { ifReadable } from '../../engine/json-values.ts'
import type { Has, KindName, SortName } from '../../engine/plugin-records/kinds.ts'
import { splitTimedText, timedText } from '../../engine/plugin-records/timed-text.ts'
import { type RemovedPart, removalParts } from '../../engine/removal-parts.ts'
import { compoundKey } from '../../rules/compound-key.ts'
import { type Changes, firstVersion, NOW, newChanges, retryOnConflict } from '../connection/changes.ts'
import type { Database } from '../connection/database.ts'
import { Parameters, tableAlong } from '../connection/dialects.ts'
import { cursorOf, filledPage, positionOf } from '../connection/keyset-pagination.ts'
import { readRecord } from '../connection/read-record.ts'
import { functionName } from '../schema/functions.ts'
import type { PluginRecordRow } from '../schema/records.ts'
import {
  columnOf,
  GLOBAL,
  type NewRecord,
  readColumns,
  recordOf,
  rowOf,
  type StoredRecord,
  type TenantOf,
  tenantIn,
} from './record-rows.ts'
import { findText, indexFor, RECORDS_TABLE, type RecordColumn } from './record-texts.ts'

/** Records of one kind. */
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

export interface AgedRecords {
  /** Default: all tenants. */
  readonly tenant?: string | undefined
  /** The expiry lies more than this many milliseconds before the time of the statement. */
  readonly forMs: number
  readonly limit: number
}

type Row = Readonly<Record<string, unknown>>

const EXPIRING = { table: RECORDS_TABLE, alias: 'r', index: 'expiring' } as const

export function pluginRecords<Name extends KindName>(kind: Name, db: Database): PluginRecords<Name> {
  const { dialect, nameOf, prefix } = db
  const removeSome = removalParts()
  const isOfKind = `r.kind = '${kind}'`

  async function listPart(column: RecordColumn, range: RecordRange<Name>, cursor: string | undefined, amount: number) {
    const { names = [], since = 0, until = Number.MAX_SAFE_INTEGER, isNewestFirst } = range
    const parameters = new Parameters(dialect)
    const conditions = [
      isOfKind,
      parameters.bind('r.tenant = ?', [tenantIn(range)]),
      parameters.bind(`r.${column} >= ? and r.${column} < ?`, [timedText(names, since), timedText(names, until)]),
    ]
    const after = positionOf(cursor)
    const sign = isNewestFirst ? '<' : '>'
    if (after && column === 'key')
      conditions.push(parameters.bind(`r.key ${sign} ?`, [timedText(names, after.at) + after.id]))
    else if (after) {
      const text = timedText(names, after.at)
      // MySQL limits its range by the second comparison alone.
      const following = `(r.${column}, r.key) ${sign} (?, ?) and r.${column} ${sign}= ?`
      conditions.push(parameters.bind(following, [text, after.id, text]))
    }
    const order = [...new Set([column, 'key'])].map((name) => `r.${name} ${isNewestFirst ? 'desc' : 'asc'}`)
    const along = tableAlong({ ...indexFor(column), alias: 'r' }, dialect, nameOf)
    const text = `select ${readColumns(kind, 'r')} from ${along}
      where ${conditions.join(' and ')} order by ${order.join(', ')} limit ${amount}`
    return (await db.scan<Row>(text, parameters.values)).map((row) => readRecord(RECORDS_TABLE, row))
  }

  function cursorAt(column: RecordColumn, row: PluginRecordRow, names: readonly string[]): string {
    const { at, rest } = splitTimedText(row[column] ?? '', names)
    return cursorOf(at, column === 'key' ? rest : row.key)
  }

  async function removePart({ tenant, forMs }: AgedRecords, from: number, limit: number): Promise<RemovedPart> {
    const { parameter } = dialect
    const ofTenant = tenant === undefined ? '' : `and r.tenant = ${parameter(3)}`
    const text = `select r.tenant, r.key, r.version, r.expires_at from ${tableAlong(EXPIRING, dialect, nameOf)}
      where ${isOfKind} and r.expires_at >= ${parameter(1)} and r.expires_at < ${NOW} - ${parameter(2)} ${ofTenant}
      order by r.expires_at limit ${Math.trunc(limit)}`
    const parameters = [from, Math.floor(forMs), ...(tenant === undefined ? [] : [tenant])]
    return retryOnConflict(async () => {
      const old = await db.scan<Pick<PluginRecordRow, 'tenant' | 'key' | 'version' | 'expires_at'>>(text, parameters)
      const changes = newChanges()
      for (const { tenant: own, key, version } of old)
        changes.remove(RECORDS_TABLE, { kind, tenant: own, key, version: Number(version) })
      await db.write(changes)
      return { count: old.length, until: Number(old.at(-1)?.expires_at ?? 0) }
    })
  }

  return {
    async find(by, texts) {
      if (texts.length === 0) return []
      const wanted = texts.map((one: string | TenantText) =>
        typeof one === 'string' ? { tenant: GLOBAL, text: one } : one,
      )
      const unique = new Map(wanted.map((one) => [compoundKey(one.tenant, one.text), one]))
      const [column, given] = [columnOf(kind, by), dialect.parameter(1)]
      const text = dialect.hasFunctions
        ? `select * from ${functionName('records', dialect, prefix)}('${kind}', '${column}', ${given})`
        : findText(column, `'${kind}'`, given, dialect, nameOf)
      const rows = await db.query<Row>(text, [JSON.stringify([...unique.values()])])
      return rows.map((row) => recordOf(kind, readRecord(RECORDS_TABLE, row)))
    },
    list(range, itemOf) {
      const column = columnOf(kind, range.by)
      return filledPage(range.limit, range.cursor, async (cursor, amount) => {
        const rows = await listPart(column, range, cursor, amount)
        const entries = rows.map((row) => ({
          cursor: cursorAt(column, row, range.names ?? []),
          item: ifReadable(() => itemOf(recordOf(kind, row))),
        }))
        return { entries, isEnd: entries.length < amount }
      })
    },
    async countUnexpired(limit) {
      const some = `select r.expires_at from ${tableAlong(EXPIRING, dialect, nameOf)}
        where ${isOfKind} and r.expires_at > ${NOW} order by r.expires_at limit ${limit}`
      const [row] = await db.scan<{ readonly found: unknown }>(`select count(*) as found from (${some}) as w`, [])
      return Number(row?.found)
    },
    put(changes, record, stored) {
      changes[stored ? 'update' : 'insert'](RECORDS_TABLE, rowOf(kind, record, stored?.version ?? firstVersion()))
    },
    remove(changes, { tenant, key, version }) {
      changes.remove(RECORDS_TABLE, { kind, tenant, key, version })
    },
    removeAged: (aged) => removeSome(aged.tenant ?? '', aged.limit, (from, most) => removePart(aged, from, most)),
  }
}
