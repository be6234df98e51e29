import { fixed, id, integer, shortText, type Table, version } from './columns.ts'
import type { RevocationRecord } from './records.ts'

/** One row per revocation of tokens. The row 0 has the last number as `revoked_at`, so that they commit in order. */
export const REVOCATIONS: Table<RevocationRecord> = {
  columns: {
    number: fixed(integer),
    tenant: id,
    covers: fixed(shortText),
    covered: id,
    revoked_at: integer,
    expires_at: fixed(integer),
    version,
  },
  primaryKey: ['number', 'tenant'],
  indexes: [{ name: 'expiring', columns: ['expires_at'] }],
}
