import type { Records, TableName } from './records.ts'

/**
 * The content of a column. `key`: text in an index, up to `length` characters; `text`: any text; `json`: JSON that only this store
 * reads; `integer`: up to 2^53 - 1, instants in epoch milliseconds; `flag`: 1 or absent.
 */
export type Kind = 'key' | 'text' | 'json' | 'integer' | 'flag'

/** One column of a table. */
export interface Column {
  readonly kind: Kind
  readonly length?: number
  readonly optional?: true
  /** It is never updated. */
  readonly fixed?: true
  /** An update with `null` leaves it as it is. */
  readonly kept?: true
  /** A change of the kind `count` adds to it. */
  readonly counted?: true
}

/** An index. With `present`, it holds only the rows in which that column is not null, where a database can do that. */
export interface Index {
  readonly name: string
  readonly columns: readonly string[]
  readonly present?: string
  /** Its replacement where an index cannot leave out rows. */
  readonly instead?: readonly Index[]
}

/** One table. Every row has a `version`, which grows by 1 with every update; an update of another version changes nothing. */
export interface Table<Of = Readonly<Record<string, unknown>>> {
  readonly columns: Readonly<Record<keyof Of, Column>>
  readonly primaryKey: readonly (keyof Of)[]
  /** Columns of the primary key that are only compared: other indexes begin with them, and a planner might take one of those. */
  readonly compared?: readonly (keyof Of)[]
  readonly indexes: readonly Index[]
  /** Generated instants, absent in rows that an index is to leave out, for databases without partial indexes. */
  readonly derived?: Readonly<Record<string, string>>
}

const fixed = (column: Column): Column => ({ ...column, fixed: true })
const optional = (column: Column): Column => ({ ...column, optional: true })
const kept = (column: Column): Column => ({ ...column, kept: true })

const key: Column = { kind: 'key', length: 200 }
const id: Column = fixed(key)
const word: Column = { kind: 'key', length: 32 }
const integer: Column = { kind: 'integer' }
const text: Column = { kind: 'text' }
const json: Column = { kind: 'json' }
const flag: Column = { kind: 'flag', optional: true }
const counted: Column = { kind: 'integer', optional: true, counted: true }
const version: Column = integer

/** The tables of a store with their indexes. */
export const TABLES: { readonly [Name in TableName]: Table<Records[Name]> } = {
  /** One row for each accepted event. */
  dispatches: {
    columns: {
      dispatch_id: id,
      tenant: id,
      event_type: { kind: 'key', length: 256, fixed: true },
      recipient: fixed(text),
      /** The beginning of the recipient, which may be too long for an index. */
      recipient_key: id,
      session_id: fixed(optional(id)),
      route: fixed(word),
      critical: fixed(flag),
      sandboxed: fixed(flag),
      locale: fixed(optional(text)),
      /** One of its deliveries is a digest, which other dispatches may share. */
      digested: flag,
      created_at: fixed(integer),
      /** Records of shared deliveries that it was taken out of. */
      records: optional(json),
      /** Derived from its deliveries, for lists; absent if its only delivery has it. */
      status: optional(word),
      /** Deliveries that may yet be sent, were sent, failed or expired, were cancelled; absent if the status is. */
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
  /** One row for each delivery: it is the job. A digest belongs to the dispatch of its oldest event. */
  deliveries: {
    columns: {
      delivery_id: id,
      dispatch_id: key,
      tenant: id,
      created_at: fixed(integer),
      /** The status of its dispatch, if it is the only delivery and no digest: then a settlement writes one row. */
      dispatch_status: optional(word),
      /** Its place among the deliveries of its dispatch. */
      place: integer,
      channel: fixed(id),
      concurrency_key: fixed(optional(text)),
      status: word,
      reason: optional(word),
      attempts: integer,
      attempts_before: integer,
      /** A JSON object for each attempt, each with a comma after it. */
      attempt_log: text,
      accepted_at: fixed(integer),
      expires_at: integer,
      /** When it is due, or its lease ends; absent if it waits for neither. */
      wake_at: optional(integer),
      fence: { kind: 'key', length: 64, optional: true },
      /** The dispatches that asked to cancel it while it could not be cancelled. */
      cancelled_by: optional(json),
      /** Its end affects nothing else: no digest, no held delivery behind it, no cancellation asked for. */
      alone: flag,
      address: fixed(optional(text)),
      content: { ...optional(json), kept: true },
      /** Key, size, recipient and time of opening. */
      digest: optional(json),
      /** The beginning of the digest's key, while an event may join it. */
      open_key: optional(key),
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
      /** Their order. */
      number: fixed(integer),
      /** The digest's place among the deliveries of the event's dispatch. */
      place: fixed(integer),
      event_data: fixed(text),
      version,
    },
    primaryKey: ['delivery_id', 'dispatch_id'],
    indexes: [{ name: 'of_dispatch', columns: ['dispatch_id'] }],
  },
  /** One row for each dispatch with a delivery that failed in host code: the data to plan it again. */
  plan_sources: {
    columns: { dispatch_id: id, source: fixed(text), version },
    primaryKey: ['dispatch_id'],
    indexes: [],
  },
  /** The stored answers of idempotency keys. */
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
  /** Uses of a limit, and the turns of events that join a digest. */
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
  /** One row for each session. Every merge in it changes its version, so merges of one session are serialized. */
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
  /** One row for each run. While it is open and has no pending events, a merge changes no indexed column. */
  runs: {
    columns: {
      tenant: id,
      run_id: id,
      session_id: id,
      parent_run_id: optional(key),
      /** Its derived data says so: it counts as a run without a parent. */
      top: flag,
      status: word,
      provider: optional(key),
      model: optional(key),
      user_id: optional(key),
      /** Each as JSON on a line of its own, with line breaks before and after. */
      tags: optional(text),
      state: kept(json),
      derived: kept(json),
      created_at: fixed(integer),
      updated_at: integer,
      last_seen_at: integer,
      revision: integer,
      /** Its creation time, while it is open. */
      open_since: optional(integer),
      /** Its creation time, while it has pending events. */
      pending_since: optional(integer),
      /** Its last change, once it has ended and has no pending events. */
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
  /** One row for each tag of a run, for lists by tag. */
  run_tags: {
    columns: {
      run_id: id,
      tenant: id,
      /** The beginning of the tag. */
      tag_key: id,
      created_at: fixed(integer),
      version,
    },
    primaryKey: ['run_id', 'tenant', 'tag_key'],
    compared: ['tenant'],
    indexes: [{ name: 'by_tag', columns: ['tenant', 'tag_key', 'created_at', 'run_id'] }],
  },
  /** Totals of the descendants of a run, whether the run is stored or not. */
  run_sums: {
    columns: { tenant: id, session_id: id, run_id: id, totals: json, version },
    primaryKey: ['tenant', 'session_id', 'run_id'],
    indexes: [],
  },
  /** A part of a user's spend of a day: several rows, so that writers seldom meet in one. */
  spends: {
    columns: { tenant: id, user_id: id, day: fixed(integer), part: fixed(integer), spend: json, version },
    primaryKey: ['tenant', 'user_id', 'day', 'part'],
    indexes: [],
  },
}
