import { type Column, fixed, id, integer, json, nullable, shortText, type Table, version } from './columns.ts'
import type { Records } from './records.ts'

const word: Column = { kind: 'key', length: 64 }
const addressKey: Column = fixed({ kind: 'key', length: 80 })

/** Tables of feedback, suppressions and preferences. */
export const FEEDBACK_TABLES: {
  readonly [Name in 'feedback' | 'suppressions' | 'preferences']: Table<Records[Name]>
} = {
  /** One row per kind of report about a delivery or message. */
  feedback: {
    columns: {
      feedback_id: fixed(word),
      tenant: id,
      channel: id,
      owner: { kind: 'key', length: 300, fixed: true },
      kind: fixed(shortText),
      code: fixed(nullable(word)),
      reported_at: integer,
      address_key: nullable(addressKey),
      stored_at: fixed(integer),
      version,
    },
    primaryKey: ['feedback_id'],
    indexes: [
      { name: 'by_owner', columns: ['tenant', 'owner'] },
      { name: 'by_age', columns: ['stored_at'] },
    ],
  },
  suppressions: {
    columns: {
      suppression_id: fixed(word),
      tenant: id,
      channel: id,
      address_key: addressKey,
      reason: fixed(shortText),
      category: { kind: 'key', length: 256, fixed: true, optional: true },
      source: word,
      created_at: integer,
      /** Absent values are stored as the largest integer. */
      expires_at: integer,
      version,
    },
    primaryKey: ['suppression_id'],
    indexes: [
      { name: 'by_address', columns: ['address_key'] },
      { name: 'by_time', columns: ['tenant', 'created_at', 'suppression_id'] },
      { name: 'expiring', columns: ['expires_at'] },
    ],
  },
  preferences: {
    columns: { recipient_key: addressKey, tenant: id, preferences: json, version },
    primaryKey: ['recipient_key'],
    indexes: [],
  },
}
