import { copyJson } from '../../../model/json.ts'
import type { NewPluginRecord } from '../../../ports/record-store.ts'
import { readable } from '../json-values.ts'
import type { RecordOf } from '../kinds.ts'
import { type Has, type KindName, type RecordBodies, type SortName, sortNames } from './kinds.ts'

/** Tenant of the records of a global kind. */
export const GLOBAL = ''

/** Kind of the records that hold the records of plugins. */
export const PLUGIN_RECORDS = 'plugin_records'

/** Columns of the sort texts, in the order in which a kind declares them. */
export const SORT_COLUMNS = ['a', 'b', 'c', 'd'] as const

/** Columns by which records of a kind are found: the end of the key, or one that has the index `by_<column>`. */
type RecordColumn = (typeof SORT_COLUMNS)[number] | 'key'

/** The tenant, unless the kind is global. */
export type TenantOf<Name extends KindName> =
  Has<Name, 'global'> extends true ? { readonly tenant?: never } : { readonly tenant: string }

type SortTexts<Name extends KindName> = Readonly<Record<SortName<Name>, string>>

/** A record to write, with what its kind declares. Without `expiresAt`, it is never removed by age. */
export type NewRecord<Name extends KindName> = TenantOf<Name> & {
  readonly key: string
  readonly body: RecordBodies[Name]
} & (Has<Name, 'expires'> extends true ? { readonly expiresAt?: number | undefined } : { readonly expiresAt?: never }) &
  ([SortName<Name>] extends [never] ? { readonly sort?: never } : { readonly sort: SortTexts<Name> })

/** A record that was read. */
export interface StoredRecord<Name extends KindName> {
  readonly tenant: string
  readonly key: string
  readonly sort: SortTexts<Name>
  readonly expiresAt?: number
  /** A copy, made at each access. @throws {SallyportError} `record_unreadable`. */
  readonly body: RecordBodies[Name]
  readonly version: number
}

export function columnOf<Name extends KindName>(kind: Name, by: SortName<Name> | 'key'): RecordColumn {
  return SORT_COLUMNS[sortNames(kind).indexOf(by)] ?? 'key'
}

export function tenantIn({ tenant = GLOBAL }: { readonly tenant?: string | undefined }): string {
  return tenant
}

export function rowOf<Name extends KindName>(
  kind: Name,
  record: NewRecord<Name>,
  version: number,
): RecordOf<'plugin_records'> {
  const { sort: texts = {} }: { readonly sort?: Readonly<Record<string, string>> } = record
  const { key, expiresAt, body } = record
  const sort = sortNames(kind).map((name) => texts[name] ?? null)
  return rowOfRecord({ kind, tenant: tenantIn(record), key, sort, expiresAt, body }, version)
}

export function rowOfRecord(
  { kind, tenant, key, sort: [a = null, b = null, c = null, d = null], expiresAt, body }: NewPluginRecord<object>,
  version: number,
): RecordOf<'plugin_records'> {
  return { ...{ kind, tenant, key, a, b, c, d }, ...{ expires_at: expiresAt ?? null, body: copyJson(body), version } }
}

export function recordOf<Name extends KindName>(kind: Name, row: RecordOf<'plugin_records'>): StoredRecord<Name> {
  const { tenant, key, expires_at, version } = row
  const texts = SORT_COLUMNS.map((column) => row[column])
  const sort = Object.fromEntries(sortNames(kind).map((name, at) => [name, texts[at]]))
  return {
    ...{ tenant, key, version, sort: sort as StoredRecord<Name>['sort'] },
    ...(expires_at !== null && { expiresAt: expires_at }),
    // Read when it is used: a record is removed or replaced without it.
    get body() {
      return copyJson(readable(row.body)) as RecordBodies[Name]
    },
  }
}
