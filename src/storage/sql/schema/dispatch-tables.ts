import {
  anyText,
  type Column,
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
import type { Records } from './records.ts'

const fence: Column = { kind: 'key', length: 64, optional: true }

/** Tables of dispatches. Each record of a delivery is written once per phase: accepted, claimed, settled. */
export const DISPATCH_TABLES: {
  readonly [Name in
    | 'dispatches'
    | 'states'
    | 'contents'
    | 'jobs'
    | 'listed'
    | 'digests'
    | 'members'
    | 'plan_sources']: Table<Records[Name]>
} = {
  /** One row per accepted event. Only an erasure changes it. */
  dispatches: {
    columns: {
      dispatch_id: id,
      tenant: id,
      made_by: id,
      event_type: { kind: 'key', length: 256, fixed: true },
      recipient: personal(fixed(anyText)),
      /** Start of the recipient, which may be too long for an index. */
      recipient_key: personal(id),
      session_id: fixed(nullable(id)),
      route: fixed(shortText),
      critical: fixed(flag),
      priority: fixed(nullable(integer)),
      sandboxed: fixed(flag),
      locale: personal(fixed(nullable(anyText))),
      created_at: fixed(integer),
      version,
    },
    primaryKey: ['dispatch_id'],
    indexes: [
      { name: 'by_time', columns: ['tenant', 'created_at', 'dispatch_id'] },
      { name: 'by_session', columns: ['tenant', 'session_id', 'created_at', 'dispatch_id'], present: 'session_id' },
      { name: 'by_recipient', columns: ['tenant', 'recipient_key', 'created_at', 'dispatch_id'] },
      { name: 'by_event_type', columns: ['tenant', 'event_type', 'created_at', 'dispatch_id'] },
    ],
  },
  /** One row per dispatch: the state of all its deliveries. Its version guards every decision about them. */
  states: {
    columns: {
      dispatch_id: id,
      version,
      /** A line per delivery: its channel, and its reason, its final status or `open`. */
      outcomes: anyText,
      /** `STATE_MEMBERS` declares its personal members. Last: PostgreSQL logs an update without the end that stays the same. */
      body: personal(kept(json)),
    },
    primaryKey: ['dispatch_id'],
    fillfactor: 45,
    isChurned: true,
    indexes: [],
  },
  /** The rendered message of a delivery; empty without one. A digest has a row once it is rendered. Only an erasure or a replan changes it. */
  contents: {
    columns: { delivery_id: id, dispatch_id: id, body: personal(nullable(json)), version },
    primaryKey: ['delivery_id'],
    indexes: [],
  },
  /** One row per delivery, exactly while it is `queued`, or `sending` under a fence. A claim changes nothing else. */
  jobs: {
    columns: {
      delivery_id: id,
      /** The dispatch of a digest is that of its oldest event. */
      dispatch_id: key,
      tenant: id,
      channel: id,
      priority: integer,
      concurrency_key: personal(fixed(nullable(anyText))),
      /** Due time, or end of the lease. */
      wake_at: integer,
      waits_for: nullable(shortText),
      expires_at: integer,
      fence,
      /** Number of attempts. */
      attempt: integer,
      /** Attempts that no settlement has recorded: a JSON object each, followed by a comma. */
      begun: anyText,
      version,
    },
    primaryKey: ['delivery_id'],
    fillfactor: 60,
    isChurned: true,
    indexes: [
      { name: 'due', columns: ['channel', 'priority', 'wake_at'] },
      // The turns of a claim go by tenant, within one priority.
      { name: 'turns', columns: ['channel', 'priority', 'tenant', 'wake_at'] },
    ],
  },
  /** The status of a dispatch, for lists. Its state's version guards it. */
  listed: {
    columns: { tenant: id, status: shortText, created_at: fixed(integer), dispatch_id: id, version: fixed(version) },
    primaryKey: ['tenant', 'status', 'created_at', 'dispatch_id'],
    moved: 'status',
    isChurned: true,
    indexes: [],
  },
  /** The state of a delivery that several dispatches may share: their states only name it. */
  digests: {
    columns: {
      delivery_id: id,
      /** Start of the digest's key, while an event may join it. */
      open_key: personal(nullable(key)),
      /** Number of the event that joined last. */
      joined: integer,
      body: personal(json),
      version,
    },
    primaryKey: ['delivery_id'],
    indexes: [{ name: 'open', columns: ['open_key'], present: 'open_key' }],
  },
  /** The events of a digest, by number. */
  members: {
    columns: {
      delivery_id: id,
      dispatch_id: id,
      number: fixed(integer),
      event_data: personal(fixed(anyText)),
      version,
    },
    primaryKey: ['delivery_id', 'dispatch_id'],
    indexes: [],
  },
  /** One row per dispatch with a delivery that failed in host code: the data to plan it again. */
  plan_sources: {
    columns: { dispatch_id: id, source: personal(fixed(anyText)), version },
    primaryKey: ['dispatch_id'],
    indexes: [],
  },
}
