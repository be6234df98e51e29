/**
 * All kinds of records. A column is declared by its words, which `ColumnWords` of `columns.ts` explains: the types of records, the tables and
 * the conversions follow from them. Every kind has a `version`, which guards its records. A record with an absent column of an index is not in
 * that index.
 */
export const KINDS = {
  /** One per accepted event. Only an erasure changes it. */
  dispatches: {
    key: ['dispatch_id'],
    columns: {
      dispatch_id: 'id',
      tenant: 'id',
      made_by: 'id',
      event_type: 'key 256 fixed',
      recipient: 'text fixed personal',
      /** Start of the recipient, which may be too long for an index. */
      recipient_key: 'id personal',
      session_id: 'id optional',
      route: 'key 32 fixed',
      critical: 'flag fixed',
      /** Absent: normal. */
      priority: 'integer optional fixed',
      sandboxed: 'flag fixed',
      locale: 'text optional fixed personal',
      /** Guards and links of plugins, a name per line. Absent: none. */
      plugins: 'text optional fixed since 2',
      created_at: 'integer fixed',
      version: 'integer',
    },
    indexes: {
      by_time: ['tenant', 'created_at', 'dispatch_id'],
      by_session: ['tenant', 'session_id', 'created_at', 'dispatch_id'],
      by_recipient: ['tenant', 'recipient_key', 'created_at', 'dispatch_id'],
      by_event_type: ['tenant', 'event_type', 'created_at', 'dispatch_id'],
    },
  },
  /** One per dispatch: the state of all its deliveries. Its version guards every decision about them. */
  states: {
    key: ['dispatch_id'],
    columns: {
      dispatch_id: 'id',
      version: 'integer',
      /** A line per delivery: its channel, and its reason, its final status or `open`. */
      outcomes: 'text',
      /** `STATE_MEMBERS` declares its personal members. Last: PostgreSQL logs an update without the end that stays the same. */
      body: 'json kept personal',
    },
  },
  /** The rendered message of a delivery; empty without one. A digest has one once it is rendered. Only an erasure or a replan changes it. */
  contents: {
    key: ['delivery_id'],
    columns: { delivery_id: 'id', dispatch_id: 'id', body: 'json optional personal', version: 'integer' },
  },
  /** One per delivery, exactly while it is `queued`, or `sending` under a fence. A claim changes nothing else. */
  jobs: {
    key: ['delivery_id'],
    columns: {
      delivery_id: 'id',
      /** The dispatch of a digest is that of its oldest event. */
      dispatch_id: 'key',
      tenant: 'id',
      channel: 'id',
      priority: 'integer',
      concurrency_key: 'text optional fixed personal',
      /** Due time, or end of the lease. */
      wake_at: 'integer',
      waits_for: 'key 32 optional',
      expires_at: 'integer',
      fence: 'key 64 optional',
      /** Number of attempts. */
      attempt: 'integer',
      /** Attempts that no settlement has recorded. */
      begun: 'list',
      version: 'integer',
    },
    indexes: {
      due: ['channel', 'priority', 'wake_at'],
      // The turns of a claim go by tenant, within one priority.
      turns: ['channel', 'priority', 'tenant', 'wake_at'],
    },
  },
  /** The status of a dispatch, for lists. Its state's version guards it. */
  listed: {
    key: ['tenant', 'status', 'created_at', 'dispatch_id'],
    columns: {
      tenant: 'id',
      status: 'key 32',
      created_at: 'integer fixed',
      dispatch_id: 'id',
      version: 'integer fixed',
    },
  },
  /** The state of a delivery that several dispatches may share: their states only name it. */
  digests: {
    key: ['delivery_id'],
    columns: {
      delivery_id: 'id',
      /** Start of the digest's key, while an event may join it. */
      open_key: 'key optional personal',
      /** Number of the event that joined last. */
      joined: 'integer',
      body: 'json personal',
      version: 'integer',
    },
    indexes: { open: ['open_key'] },
  },
  /** The events of a digest, by number. */
  members: {
    key: ['delivery_id', 'dispatch_id'],
    columns: {
      delivery_id: 'id',
      dispatch_id: 'id',
      number: 'integer fixed',
      event_data: 'json fixed personal',
      version: 'integer',
    },
  },
  /** One per dispatch with a delivery that failed in host code: the data to plan it again. */
  plan_sources: {
    key: ['dispatch_id'],
    columns: { dispatch_id: 'id', source: 'json fixed personal', version: 'integer' },
  },
  /** Answers of idempotency keys. */
  idempotency_keys: {
    key: ['tenant', 'name'],
    columns: {
      tenant: 'id',
      name: 'key 512 fixed',
      fingerprint: 'key 64',
      answer: 'json personal',
      expires_at: 'integer',
      version: 'integer',
    },
    indexes: { expiring: ['expires_at'] },
  },
  /** Uses of a limit, and turns of events that join a digest. */
  counters: {
    key: ['tenant', 'name'],
    columns: {
      tenant: 'id',
      /** Contains recipients and addresses. */
      name: 'key 520 fixed personal',
      times: 'json',
      max: 'integer',
      window_ms: 'integer',
      expires_at: 'integer',
      version: 'integer',
    },
    indexes: { expiring: ['expires_at'] },
  },
  /** One per session. Every merge that changes it increments its version, so merges of one session are serialized. */
  sessions: {
    key: ['tenant', 'session_id'],
    columns: {
      tenant: 'id',
      session_id: 'id',
      created_at: 'integer fixed',
      updated_at: 'integer',
      totals: 'json kept',
      failures: 'json kept personal',
      version: 'integer',
    },
    indexes: { by_time: ['tenant', 'created_at', 'session_id'] },
  },
  /** One per run. While it is open and has no pending events, a merge changes no indexed column. */
  runs: {
    key: ['run_id', 'session_id', 'tenant'],
    columns: {
      tenant: 'id',
      session_id: 'id',
      run_id: 'id',
      /** The order of runs that were created in the same millisecond. Shorter in an index than the ids. */
      tie_breaker: 'integer fixed',
      parent_run_id: 'key optional',
      /** Derived: the run counts as a run without a parent. */
      top: 'flag',
      status: 'key 32',
      provider: 'key optional',
      model: 'key optional',
      user_id: 'key optional personal',
      /** The user of an agent's token, if the run shows another. */
      agent_user_id: 'key optional personal',
      /** Each tag as JSON on its own line, with line breaks before and after. */
      tags: 'text optional personal',
      state: 'json kept personal',
      derived: 'json kept',
      created_at: 'integer fixed',
      updated_at: 'integer',
      last_seen_at: 'integer',
      revision: 'integer',
      /** Creation time while it is open. */
      open_since: 'integer optional',
      /** Creation time while it has pending events. */
      pending_since: 'integer optional',
      /** Last change, once it has ended and has no pending events. */
      over_since: 'integer optional',
      version: 'integer',
    },
    indexes: {
      by_time: ['tenant', 'created_at', 'tie_breaker'],
      by_session: ['tenant', 'session_id', 'created_at', 'tie_breaker'],
      by_user: ['tenant', 'user_id', 'created_at', 'tie_breaker'],
      by_agent_user: ['tenant', 'agent_user_id'],
      by_status: ['tenant', 'status', 'created_at', 'tie_breaker'],
      by_provider: ['tenant', 'provider', 'created_at', 'tie_breaker'],
      by_model: ['tenant', 'model', 'created_at', 'tie_breaker'],
      open: ['open_since', 'tie_breaker'],
      pending: ['pending_since', 'tie_breaker'],
      over: ['over_since'],
    },
  },
  run_tags: {
    key: ['run_id', 'session_id', 'tenant', 'tag_key'],
    columns: {
      tenant: 'id',
      session_id: 'id',
      run_id: 'id',
      /** Start of the tag: InnoDB limits a key to 3,072 bytes. The whole tag is compared as well. */
      tag_key: 'key 100 fixed personal',
      tie_breaker: 'integer fixed',
      created_at: 'integer fixed',
      version: 'integer',
    },
    indexes: { by_tag: ['tenant', 'tag_key', 'created_at', 'tie_breaker'] },
  },
  /** Totals of the descendants of a run, whether the run is stored or not. */
  run_sums: {
    key: ['tenant', 'session_id', 'run_id'],
    columns: { tenant: 'id', session_id: 'id', run_id: 'id', totals: 'json personal', version: 'integer' },
  },
  /** Part of a user's spend of a day. Several parts make conflicts rare. */
  spends: {
    key: ['tenant', 'user_id', 'day', 'part'],
    columns: {
      tenant: 'id',
      user_id: 'id personal',
      day: 'integer fixed',
      part: 'integer fixed',
      spend: 'json',
      version: 'integer',
    },
  },
  /** One per revocation of tokens. That of the number 0 has the last number as `revoked_at`, so that they commit in order. */
  revocations: {
    key: ['number', 'tenant'],
    columns: {
      number: 'integer fixed',
      tenant: 'id',
      covers: 'key 32 fixed',
      covered: 'id',
      revoked_at: 'integer',
      expires_at: 'integer fixed',
      version: 'integer',
    },
    indexes: { expiring: ['expires_at'] },
  },
  /** Records of plugins: a new kind needs no migration. */
  plugin_records: {
    key: ['kind', 'tenant', 'key'],
    columns: {
      kind: 'key 32 fixed',
      /** Empty for a global kind. */
      tenant: 'id',
      key: 'key 232 fixed',
      /** Texts by which a kind finds and lists its records. InnoDB limits an index to 764 characters: 3,072 bytes. */
      a: 'key 300 optional',
      b: 'key 300 optional',
      c: 'key 300 optional',
      d: 'key 300 optional',
      /** The instant from which removal counts: the expiry, or the time of storage if its caller says how long records are kept. */
      expires_at: 'integer optional',
      body: 'json personal',
      version: 'integer',
    },
    indexes: {
      by_a: ['kind', 'tenant', 'a', 'key'],
      by_b: ['kind', 'tenant', 'b', 'key'],
      by_c: ['kind', 'tenant', 'c', 'key'],
      by_d: ['kind', 'tenant', 'd', 'key'],
      expiring: ['kind', 'expires_at'],
    },
  },
} as const
