import {
  type Has,
  type KindName,
  type RecordBodies,
  type SortName,
  sortNames,
} from '../../engine/plugin-records/kinds.ts'
import type { PluginRecordRow } from '../schema/records.ts'
import { readStored } from '../schema/stored-json.ts'
import type { RecordColumn } from './record-texts.ts'

/** Tenant of the records of a global kind. */
export const GLOBAL = ''

const SORT_COLUMNS = ['a', 'b', 'c', 'd'] as const

export type TenantOf<Name extends KindName> =
  Has<Name, 'global'> extends true ? { readonly tenant?: never } : { readonly tenant: string }

type SortTexts<Name extends KindName> = Readonly<Record<SortName<Name>, string>>

/** A record to write, with what its kind declares. Without `expiresAt`, it is never removed by age. */
export type NewRecord<Name extends KindName> = TenantOf<Name> & {
  readonly key: string
  readonly body: RecordBodies[Name]
} & (Has<Name, 'expires'> extends true ? { readonly expiresAt?: number | undefined } : { readonly expiresAt?: never }) &
  ([SortName<Name>] extends [never] ? { readonly sort?: never } : { readonly sort: SortTexts<Name> })

export interface StoredRecord<Name extends KindName> {
  readonly tenant: string
  readonly key: string
  readonly sort: SortTexts<Name>
  readonly expiresAt?: number
  readonly body: RecordBodies[Name]
  readonly version: number
}

export function columnOf<Name extends KindName>(kind: Name, by: SortName<Name> | 'key'): RecordColumn {
  return SORT_COLUMNS[sortNames(kind).indexOf(by)] ?? 'key'
}

/** The columns that a record of a kind is read from, for a `select`. */
export function readColumns(kind: KindName, alias: string): string {
  const names = ['tenant', 'key', ...SORT_COLUMNS.slice(0, sortNames(kind).length), 'expires_at', 'body', 'version']
  return names.map((name) => `${alias}.${name}`).join(', ')
}

export function tenantIn({ tenant = GLOBAL }: { readonly tenant?: string | undefined }): string {
  return tenant
}

export function rowOf<Name extends KindName>(kind: Name, record: NewRecord<Name>, version: number): PluginRecordRow {
  const { sort = {} }: { readonly sort?: Readonly<Record<string, string>> } = record
  const [a = null, b = null, c = null, d = null] = sortNames(kind).map((name) => sort[name])
  return {
    ...{ kind, tenant: tenantIn(record), key: record.key, a, b, c, d },
    ...{ expires_at: record.expiresAt ?? null, body: JSON.stringify(record.body), version },
  }
}

export function recordOf<Name extends KindName>(kind: Name, row: PluginRecordRow): StoredRecord<Name> {
  const { tenant, key, expires_at, version } = row
  const texts = SORT_COLUMNS.map((column) => row[column])
  const sort = Object.fromEntries(sortNames(kind).map((name, at) => [name, texts[at]]))
  return {
    ...{ tenant, key, version, sort: sort as StoredRecord<Name>['sort'] },
    ...(expires_at !== null && { expiresAt: expires_at }),
    // Read when it is used: a record is removed or replaced without it.
    get body() {
      return readStored<RecordBodies[Name]>('plugin_records.body', row.body)
    },
  }
}
