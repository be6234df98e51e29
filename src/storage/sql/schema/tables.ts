import type { Records, TableName } from './records.ts'
import type { Column, Table } from './table.ts'

const ID = 200

const id: Column = { kind: 'key', length: ID, fixed: true }
const word: Column = { kind: 'key', length: 32 }
const integer: Column = { kind: 'integer' }
const text: Column = { kind: 'text' }
const json: Column = { kind: 'json' }
const flag: Column = { kind: 'flag', optional: true }
const version: Column = integer

function fixed(column: Column): Column {
  return { ...column, fixed: true }
}

function optional(column: Column): Column {
  return { ...column, optional: true }
}

function kept(column: Column): Column {
  return { ...column, kept: true }
}

/** Absent where nothing is counted. */
const counted: Column = { kind: 'integer', optional: true, counted: true }

/** What this store keeps, and how it finds it again. */
export const TABLES: { readonly [Name in TableName]: Table<Records[Name]> } = {
  /** One row for each accepted event. */
  dispatches: {
    columns: {
      dispatch_id: id,
      tenant: id,
      event_type: { kind: 'key', length: 256, fixed: true },
      recipient: fixed(text),
      /** How the recipient begins: all of it may be longer than what an index takes. */
      recipient_key: id,
      session_id: fixed(optional(id)),
      route: fixed(word),
      critical: fixed(flag),
      sandboxed: fixed(flag),
      locale: fixed(optional(text)),
      /** One of its deliveries is a digest, which others may share. */
      digested: flag,
      created_at: fixed(integer),
      /** What is left of deliveries that it shared and was taken out of. */
      records: optional(json),
      /** Derived from its deliveries, for lists; absent where its only delivery has it. */
      status: optional(word),
      /** How many of its deliveries may yet be sent, were sent, failed or expired, and were cancelled; absent where the status is. */
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
  /** One row for each delivery: it is the job. Of a digest it is that of the oldest event's dispatch. */
  deliveries: {
    columns: {
      delivery_id: id,
      dispatch_id: { kind: 'key', length: ID },
      tenant: id,
      /** When the dispatch was created. */
      created_at: fixed(integer),
      /** The status of its dispatch, where it is the only delivery and no digest: one row is written when it ends. */
      dispatch_status: optional(word),
      /** Where it stands among those of its dispatch. */
      place: integer,
      channel: fixed(id),
      concurrency_key: fixed(optional(text)),
      status: word,
      reason: optional(word),
      attempts: integer,
      attempts_before: integer,
      /** A JSON object for each attempt, and a comma after each. */
      attempt_log: text,
      accepted_at: fixed(integer),
      expires_at: integer,
      /** When it is due, or its lease ends; absent where it waits for no time. */
      wake_at: optional(integer),
      fence: { kind: 'key', length: 64, optional: true },
      /** The dispatches that asked for its end when it could not be had yet. */
      cancelled_by: optional(json),
      /** Nothing else follows from how it ends: it is no digest, nothing is held behind it and nobody asked for its end. */
      alone: flag,
      address: fixed(optional(text)),
      content: { ...optional(json), kept: true },
      /** Key, size, recipient and when it was opened. */
      digest: optional(json),
      /** How all that a digest is gathered by begins, while an event may join it. */
      open_key: { kind: 'key', length: ID, optional: true },
      limits: optional(json),
      deferred: fixed(flag),
      trace: fixed(optional(json)),
      last_code: optional(text),
      provider_message_id: optional(text),
      version,
    },
    primaryKey: ['delivery_id'],
    indexes: [
      { name: 'of_dispatch', columns: ['dispatch_id'] },
      // By status, since leases and what is queued are looked through from different places.
      {
        name: 'due',
        columns: ['channel', 'status', 'wake_at'],
        present: 'wake_at',
        instead: [
          { name: 'queued', columns: ['channel', 'queued_at'] },
          { name: 'leased', columns: ['channel', 'leased_until'] },
        ],
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
      queued_at: "case when status = 'queued' then wake_at end",
      leased_until: "case when status = 'sending' then wake_at end",
      expiring_at: "case when status in ('queued', 'sending') then expires_at end",
    },
  },
  /** One row for each event of a digest. */
  digest_events: {
    columns: {
      delivery_id: id,
      dispatch_id: id,
      /** In which order they came. */
      number: fixed(integer),
      /** Where the digest stands among the deliveries of the event's dispatch. */
      place: fixed(integer),
      event_data: fixed(text),
      version,
    },
    primaryKey: ['delivery_id', 'dispatch_id'],
    indexes: [{ name: 'of_dispatch', columns: ['dispatch_id'] }],
  },
  /** One row for each dispatch of which a delivery failed in host code: what it is planned from again. */
  plan_sources: {
    columns: { dispatch_id: id, source: fixed(text), version },
    primaryKey: ['dispatch_id'],
    indexes: [],
  },
  /** What was answered under an idempotency key. */
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
  /** What was let out under a limit, and what events of a digest take their turn by. */
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
  /** One row for each session. Its version grows with every merge in it: merges of one session follow one another. */
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
    indexes: [],
  },
  /** One row for each run. While it has not ended and nothing is untold of it, no merge changes what an index has. */
  runs: {
    columns: {
      tenant: id,
      run_id: id,
      session_id: id,
      parent_run_id: { kind: 'key', length: ID, optional: true },
      /** Its account says so: it is counted as if it had no parent. */
      top: flag,
      status: word,
      provider: { kind: 'key', length: ID, optional: true },
      model: { kind: 'key', length: ID, optional: true },
      user_id: { kind: 'key', length: ID, optional: true },
      /** Each as JSON, in a line of its own, with an empty line before and after. */
      tags: optional(text),
      state: kept(json),
      derived: kept(json),
      created_at: fixed(integer),
      updated_at: integer,
      last_seen_at: integer,
      revision: integer,
      /** When it was created, while it has not ended. */
      open_since: optional(integer),
      /** When it was created, while something of it is untold. */
      pending_since: optional(integer),
      /** When it last changed, once it has ended and nothing of it is untold. */
      over_since: optional(integer),
      version,
    },
    primaryKey: ['run_id', 'tenant'],
    compared: ['tenant'],
    indexes: [
      { name: 'by_time', columns: ['tenant', 'created_at', 'run_id'] },
      { name: 'by_session', columns: ['tenant', 'session_id', 'created_at', 'run_id'] },
      { name: 'by_user', columns: ['tenant', 'user_id', 'created_at', 'run_id'], present: 'user_id' },
      { name: 'by_status', columns: ['tenant', 'status', 'created_at', 'run_id'] },
      { name: 'by_provider', columns: ['tenant', 'provider', 'created_at', 'run_id'], present: 'provider' },
      { name: 'by_model', columns: ['tenant', 'model', 'created_at', 'run_id'], present: 'model' },
      { name: 'open', columns: ['open_since', 'tenant', 'run_id'], present: 'open_since' },
      { name: 'pending', columns: ['pending_since', 'tenant', 'run_id'], present: 'pending_since' },
      { name: 'over', columns: ['over_since'], present: 'over_since' },
    ],
  },
  /** One row for each tag of a run: by these lists find it. */
  run_tags: {
    columns: {
      run_id: id,
      tenant: id,
      /** How the tag begins. */
      tag_key: id,
      /** When the run was created. */
      created_at: fixed(integer),
      version,
    },
    primaryKey: ['run_id', 'tenant', 'tag_key'],
    compared: ['tenant'],
    indexes: [{ name: 'by_tag', columns: ['tenant', 'tag_key', 'created_at', 'run_id'] }],
  },
  /** What was summed up below a run, stored or not. */
  run_sums: {
    columns: { tenant: id, session_id: id, run_id: id, totals: json, version },
    primaryKey: ['tenant', 'session_id', 'run_id'],
    indexes: [],
  },
  /** A part of what a user spent on a day: there are several, so that not all who add to it meet in one row. */
  spends: {
    columns: { tenant: id, user_id: id, day: fixed(integer), part: fixed(integer), spend: json, version },
    primaryKey: ['tenant', 'user_id', 'day', 'part'],
    indexes: [],
  },
}
