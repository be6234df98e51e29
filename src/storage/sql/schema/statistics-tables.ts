import { fixed, id, integer, json, shortText, type Table, version } from './columns.ts'
import type { Records } from './records.ts'

/** Tables of statistics. */
export const STATISTICS_TABLES: { readonly [Name in 'statistics' | 'workers']: Table<Records[Name]> } = {
  /** Counts of a tenant in a minute, an hour or a day: one row per counter, which one process writes. */
  statistics: {
    columns: {
      counter_id: id,
      tenant: id,
      step: fixed(shortText),
      starts_at: fixed(integer),
      revision: integer,
      counts: json,
      expires_at: fixed(integer),
      version,
    },
    primaryKey: ['counter_id', 'starts_at', 'step', 'tenant'],
    indexes: [
      { name: 'by_time', columns: ['tenant', 'step', 'starts_at', 'counter_id'] },
      { name: 'expiring', columns: ['expires_at'] },
    ],
  },
  /** One row per worker, until it stops. */
  workers: {
    columns: { worker_id: id, alive_until: integer, version },
    primaryKey: ['worker_id'],
    indexes: [{ name: 'alive', columns: ['alive_until'] }],
  },
}
