import {
  anyText,
  fixed,
  flag,
  id,
  integer,
  json,
  kept,
  key,
  nullable,
  personal,
  shortText,
  type Table,
  version,
} from './columns.ts'
import { DISPATCH_TABLES } from './dispatch-tables.ts'
import { PLUGIN_RECORDS } from './plugin-records-table.ts'
import type { Records, TableName } from './records.ts'
import { REVOCATIONS } from './revocations-table.ts'

export const TAG_KEY_LENGTH = 100

/**
 * All tables. To add a column: here and in `records.ts`, optional, since processes of the version before still insert rows; then the
 * conversion of rows in `dispatch-records.ts` or `run-records.ts`, and a migration.
 */
export const TABLES: { readonly [Name in TableName]: Table<Records[Name]> } = {
  ...DISPATCH_TABLES,
  idempotency_keys: {
    columns: {
      tenant: id,
      name: { kind: 'key', length: 512, fixed: true },
      fingerprint: { kind: 'key', length: 64 },
      answer: personal(json),
      expires_at: integer,
      version,
    },
    primaryKey: ['tenant', 'name'],
    indexes: [{ name: 'expiring', columns: ['expires_at'] }],
  },
  /** Uses of a limit, and turns of events that join a digest. */
  counters: {
    columns: {
      tenant: id,
      /** Contains recipients and addresses. */
      name: personal({ kind: 'key', length: 520, fixed: true }),
      times: json,
      max: integer,
      window_ms: integer,
      expires_at: integer,
      version,
    },
    primaryKey: ['tenant', 'name'],
    isChurned: true,
    indexes: [{ name: 'expiring', columns: ['expires_at'] }],
  },
  /** One row per session. Every merge that changes it increments its version, so merges of one session are serialized. */
  sessions: {
    columns: {
      tenant: id,
      session_id: id,
      created_at: fixed(integer),
      updated_at: integer,
      totals: kept(json),
      failures: personal(kept(json)),
      version,
    },
    primaryKey: ['tenant', 'session_id'],
    isChurned: true,
    indexes: [{ name: 'by_time', columns: ['tenant', 'created_at', 'session_id'] }],
  },
  /** One row per run. While it is open and has no pending events, a merge changes no indexed column. */
  runs: {
    columns: {
      tenant: id,
      session_id: id,
      run_id: id,
      /** Random: the order of runs that were created in the same millisecond. Shorter in an index than the ids. */
      tie_breaker: fixed(integer),
      parent_run_id: nullable(key),
      /** Derived: the run counts as a run without a parent. */
      top: flag,
      status: shortText,
      provider: nullable(key),
      model: nullable(key),
      user_id: personal(nullable(key)),
      agent_user_id: personal(nullable(key)),
      /** Each tag as JSON on its own line, with line breaks before and after. */
      tags: personal(nullable(anyText)),
      state: personal(kept(json)),
      derived: kept(json),
      created_at: fixed(integer),
      updated_at: integer,
      last_seen_at: integer,
      revision: integer,
      /** Creation time while it is open. */
      open_since: nullable(integer),
      /** Creation time while it has pending events. */
      pending_since: nullable(integer),
      /** Last change, once it has ended and has no pending events. */
      over_since: nullable(integer),
      version,
    },
    primaryKey: ['run_id', 'session_id', 'tenant'],
    hasRivals: true,
    indexes: [
      { name: 'by_time', columns: ['tenant', 'created_at', 'tie_breaker'] },
      { name: 'by_session', columns: ['tenant', 'session_id', 'created_at', 'tie_breaker'] },
      { name: 'by_user', columns: ['tenant', 'user_id', 'created_at', 'tie_breaker'], present: 'user_id' },
      { name: 'by_agent_user', columns: ['tenant', 'agent_user_id'], present: 'agent_user_id' },
      { name: 'by_status', columns: ['tenant', 'status', 'created_at', 'tie_breaker'] },
      { name: 'by_provider', columns: ['tenant', 'provider', 'created_at', 'tie_breaker'], present: 'provider' },
      { name: 'by_model', columns: ['tenant', 'model', 'created_at', 'tie_breaker'], present: 'model' },
      { name: 'open', columns: ['open_since', 'tie_breaker'], present: 'open_since' },
      { name: 'pending', columns: ['pending_since', 'tie_breaker'], present: 'pending_since' },
      { name: 'over', columns: ['over_since'], present: 'over_since' },
    ],
  },
  run_tags: {
    columns: {
      tenant: id,
      session_id: id,
      run_id: id,
      /** Start of the tag: InnoDB limits a key to 3,072 bytes. The whole tag is compared as well. */
      tag_key: personal(fixed({ kind: 'key', length: TAG_KEY_LENGTH })),
      tie_breaker: fixed(integer),
      created_at: fixed(integer),
      version,
    },
    primaryKey: ['run_id', 'session_id', 'tenant', 'tag_key'],
    hasRivals: true,
    indexes: [{ name: 'by_tag', columns: ['tenant', 'tag_key', 'created_at', 'tie_breaker'] }],
  },
  /** Totals of the descendants of a run, whether the run is stored or not. */
  run_sums: {
    columns: { tenant: id, session_id: id, run_id: id, totals: personal(json), version },
    primaryKey: ['tenant', 'session_id', 'run_id'],
    indexes: [],
  },
  /** Part of a user's spend of a day. Several rows make conflicts rare. */
  spends: {
    columns: { tenant: id, user_id: personal(id), day: fixed(integer), part: fixed(integer), spend: json, version },
    primaryKey: ['tenant', 'user_id', 'day', 'part'],
    indexes: [],
  },
  revocations: REVOCATIONS,
  plugin_records: PLUGIN_RECORDS,
}
