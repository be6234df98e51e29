import {
  anyText,
  counted,
  fixed,
  flag,
  id,
  integer,
  json,
  kept,
  key,
  nullable,
  shortText,
  type Table,
  version,
} from './columns.ts'
import { FEEDBACK_TABLES } from './feedback-tables.ts'
import type { Records, TableName } from './records.ts'
import { STATISTICS_TABLES } from './statistics-tables.ts'
import { TOKEN_TABLES } from './token-tables.ts'

export const TAG_KEY_LENGTH = 100

/**
 * All tables. To add a column: here and in `records.ts`, optional, since processes of the version before still insert rows; then the
 * conversion of rows in `dispatch-records.ts` or `run-records.ts`, and a migration.
 */
export const TABLES: { readonly [Name in TableName]: Table<Records[Name]> } = {
  /** One row per accepted event. */
  dispatches: {
    columns: {
      dispatch_id: id,
      tenant: id,
      made_by: id,
      event_type: { kind: 'key', length: 256, fixed: true },
      recipient: fixed(anyText),
      /** Start of the recipient, which may be too long for an index. */
      recipient_key: id,
      session_id: fixed(nullable(id)),
      route: fixed(shortText),
      critical: fixed(flag),
      sandboxed: fixed(flag),
      locale: fixed(nullable(anyText)),
      /** One of its deliveries is a digest, which other dispatches may share. */
      digested: flag,
      created_at: fixed(integer),
      /** Records of shared deliveries that it left. */
      records: nullable(json),
      /** Derived from its deliveries, for lists; absent if its only delivery has it. */
      status: nullable(shortText),
      /** Deliveries that are open, sent, failed or expired, and cancelled; absent if `status` is. */
      open_count: counted,
      sent_count: counted,
      lost_count: counted,
      cancelled_count: counted,
      version,
    },
    primaryKey: ['dispatch_id'],
    indexes: [
      { name: 'by_time', columns: ['tenant', 'created_at', 'dispatch_id'] },
      { name: 'by_session', columns: ['tenant', 'session_id', 'created_at', 'dispatch_id'], present: 'session_id' },
      { name: 'by_recipient', columns: ['tenant', 'recipient_key', 'created_at', 'dispatch_id'] },
      { name: 'by_event_type', columns: ['tenant', 'event_type', 'created_at', 'dispatch_id'] },
      { name: 'by_status', columns: ['tenant', 'status', 'created_at', 'dispatch_id'], present: 'status' },
      { name: 'by_age', columns: ['created_at'] },
    ],
  },
  /** One row per delivery; it is also the job. A digest belongs to the dispatch of its oldest event. */
  deliveries: {
    columns: {
      delivery_id: id,
      dispatch_id: key,
      tenant: id,
      created_at: fixed(integer),
      /** Status of its dispatch, if it is the only delivery and no digest: a settlement then writes one row. */
      dispatch_status: nullable(shortText),
      place: integer,
      channel: fixed(id),
      concurrency_key: fixed(nullable(anyText)),
      status: shortText,
      reason: nullable(shortText),
      attempts: integer,
      attempts_before: integer,
      /** The attempt that was under way when its bounce was reported. */
      bounced_attempt: nullable(integer),
      /** A JSON object per attempt, each followed by a comma. */
      attempt_log: anyText,
      accepted_at: fixed(integer),
      expires_at: integer,
      /** Due time or end of the lease; absent if it waits for neither. */
      wake_at: nullable(integer),
      fence: { kind: 'key', length: 64, optional: true },
      /** Dispatches that requested cancellation while it could not be cancelled. */
      cancelled_by: nullable(json),
      /** Its end affects no other row: no digest, no held delivery in its dispatch, no requested cancellation. */
      alone: flag,
      address: fixed(nullable(anyText)),
      content: { ...nullable(json), kept: true },
      /** Key, size, recipient and time of opening. */
      digest: nullable(json),
      /** Start of the digest's key, while an event may join it. */
      open_key: nullable(key),
      limits: nullable(json),
      deferred: fixed(flag),
      trace: fixed(nullable(json)),
      last_code: nullable(anyText),
      provider_message_id: nullable(anyText),
      version,
    },
    primaryKey: ['delivery_id'],
    indexes: [
      { name: 'of_dispatch', columns: ['dispatch_id'] },
      // By status: claims read leases and queued deliveries from different low-water marks.
      {
        name: 'due',
        columns: ['channel', 'status', 'wake_at'],
        present: 'wake_at',
        instead: [
          { name: 'queued', columns: ['channel', 'queued_at'] },
          { name: 'leased', columns: ['channel', 'leased_until'] },
        ],
      },
      // By tenant, for the turns of a claim.
      {
        name: 'turns',
        columns: ['channel', 'tenant', 'wake_at'],
        present: 'wake_at',
        instead: [{ name: 'turns', columns: ['channel', 'waiting_tenant', 'wake_at'] }],
      },
      {
        name: 'expiring',
        columns: ['status', 'expires_at', 'wake_at'],
        present: 'wake_at',
        instead: [{ name: 'expiring', columns: ['expiring_at'] }],
      },
      {
        name: 'by_status',
        columns: ['tenant', 'dispatch_status', 'created_at', 'dispatch_id'],
        present: 'dispatch_status',
      },
      { name: 'open_digests', columns: ['open_key'], present: 'open_key' },
    ],
    derived: {
      queued_at: { ...integer, text: "case when status = 'queued' then wake_at end" },
      leased_until: { ...integer, text: "case when status = 'sending' then wake_at end" },
      expiring_at: { ...integer, text: "case when status in ('queued', 'sending') then expires_at end" },
      waiting_tenant: { ...key, text: 'case when wake_at is not null then tenant end' },
    },
  },
  digest_events: {
    columns: {
      delivery_id: id,
      dispatch_id: id,
      number: fixed(integer),
      /** The digest's place among the deliveries of the event's dispatch. */
      place: fixed(integer),
      event_data: fixed(anyText),
      version,
    },
    primaryKey: ['delivery_id', 'dispatch_id'],
    indexes: [{ name: 'of_dispatch', columns: ['dispatch_id'] }],
  },
  /** One row per dispatch with a delivery that failed in host code: the data to plan it again. */
  plan_sources: {
    columns: { dispatch_id: id, source: fixed(anyText), version },
    primaryKey: ['dispatch_id'],
    indexes: [],
  },
  idempotency_keys: {
    columns: {
      tenant: id,
      name: { kind: 'key', length: 512, fixed: true },
      fingerprint: { kind: 'key', length: 64 },
      answer: json,
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
      name: { kind: 'key', length: 520, fixed: true },
      times: json,
      max: integer,
      window_ms: integer,
      expires_at: integer,
      version,
    },
    primaryKey: ['tenant', 'name'],
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
      failures: kept(json),
      version,
    },
    primaryKey: ['tenant', 'session_id'],
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
      user_id: nullable(key),
      agent_user_id: nullable(key),
      /** Each tag as JSON on its own line, with line breaks before and after. */
      tags: nullable(anyText),
      state: kept(json),
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
      tag_key: fixed({ kind: 'key', length: TAG_KEY_LENGTH }),
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
    columns: { tenant: id, session_id: id, run_id: id, totals: json, version },
    primaryKey: ['tenant', 'session_id', 'run_id'],
    indexes: [],
  },
  /** Part of a user's spend of a day. Several rows make conflicts rare. */
  spends: {
    columns: { tenant: id, user_id: id, day: fixed(integer), part: fixed(integer), spend: json, version },
    primaryKey: ['tenant', 'user_id', 'day', 'part'],
    indexes: [],
  },
  ...TOKEN_TABLES,
  ...FEEDBACK_TABLES,
  ...STATISTICS_TABLES,
}
