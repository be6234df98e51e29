import { fixed, id, integer, json, nullable, personal, shortText, type Table, version } from './columns.ts'
import type { PluginRecordRow } from './records.ts'

/** The longest index has 764 characters: InnoDB limits a key to 3,072 bytes, with 4 for each character. */
const sortText = nullable({ kind: 'key', length: 300 })

/** Records of all kinds that `PLUGIN_KINDS` declares. A new kind needs no migration. */
export const PLUGIN_RECORDS: Table<PluginRecordRow> = {
  columns: {
    kind: fixed(shortText),
    /** Empty for a global kind. */
    tenant: id,
    key: { kind: 'key', length: 232, fixed: true },
    /** Texts by which a kind finds and lists its records. */
    a: sortText,
    b: sortText,
    c: sortText,
    d: sortText,
    /** The instant from which removal counts: the expiry, or the time of storage if its caller says how long records are kept. */
    expires_at: nullable(integer),
    /** `PLUGIN_KINDS` declares its personal members. */
    body: personal(json),
    version,
  },
  primaryKey: ['kind', 'tenant', 'key'],
  indexes: [
    { name: 'by_a', columns: ['kind', 'tenant', 'a', 'key'], present: 'a' },
    { name: 'by_b', columns: ['kind', 'tenant', 'b', 'key'], present: 'b' },
    { name: 'by_c', columns: ['kind', 'tenant', 'c', 'key'], present: 'c' },
    { name: 'by_d', columns: ['kind', 'tenant', 'd', 'key'], present: 'd' },
    { name: 'expiring', columns: ['kind', 'expires_at'], present: 'expires_at' },
  ],
}
