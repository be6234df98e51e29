import { compoundKey } from '../../../model/compound-key.ts'
import { copyJson } from '../../../model/json.ts'
import type { NewPluginRecord, PluginRecord, RecordName } from '../../../ports/record-store.ts'
import { readable } from '../json-values.ts'
import type { RecordOf } from '../kinds.ts'

/** Kind of the records that hold the records of plugins. */
export const PLUGIN_RECORDS = 'plugin_records'

export type RecordRow = RecordOf<typeof PLUGIN_RECORDS>

export function rowOf(
  { kind, tenant, key, sort: [a = null, b = null, c = null, d = null], expiresAt, body }: NewPluginRecord<object>,
  version: number,
): RecordRow {
  return { ...{ kind, tenant, key, a, b, c, d }, ...{ expires_at: expiresAt ?? null, body: copyJson(body), version } }
}

export function recordOf(row: RecordRow): PluginRecord {
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

export function nameOf({ kind, tenant, key }: RecordName): string {
  return compoundKey(kind, tenant, key)
}
