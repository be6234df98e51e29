/** `null` is an absent value in all records. */
export interface DispatchRecord {
  readonly dispatch_id: string
  readonly tenant: string
  readonly made_by: string
  readonly event_type: string
  readonly recipient: string
  readonly recipient_key: string
  readonly session_id: string | null
  readonly route: string
  readonly critical: number | null
  /** Absent: normal. */
  readonly priority: number | null
  readonly sandboxed: number | null
  readonly locale: string | null
  readonly created_at: number
  readonly version: number
}

/** In an update, `null` keeps the body. */
export interface StateRecord {
  readonly dispatch_id: string
  readonly body: string | null
  readonly outcomes: string
  readonly version: number
}

export interface ContentRecord {
  readonly delivery_id: string
  readonly dispatch_id: string
  readonly body: string | null
  readonly version: number
}

export interface JobRecord {
  readonly delivery_id: string
  readonly dispatch_id: string
  readonly tenant: string
  readonly channel: string
  readonly priority: number
  readonly concurrency_key: string | null
  readonly wake_at: number
  readonly waits_for: string | null
  readonly expires_at: number
  readonly fence: string | null
  readonly attempt: number
  readonly begun: string
  readonly version: number
}

export interface ListedRecord {
  readonly tenant: string
  readonly status: string
  readonly created_at: number
  readonly dispatch_id: string
  readonly version: number
}

export interface DigestRecord {
  readonly delivery_id: string
  readonly open_key: string | null
  readonly joined: number
  readonly body: string
  readonly version: number
}

export interface MemberRecord {
  readonly delivery_id: string
  readonly dispatch_id: string
  readonly number: number
  readonly event_data: string
  readonly version: number
}

export interface PlanSourceRecord {
  readonly dispatch_id: string
  readonly source: string
  readonly version: number
}

export interface KeyRecord {
  readonly tenant: string
  readonly name: string
  readonly fingerprint: string
  readonly answer: string
  readonly expires_at: number
  readonly version: number
}

export interface CounterRecord {
  readonly tenant: string
  readonly name: string
  readonly times: string
  readonly max: number
  readonly window_ms: number
  readonly expires_at: number
  readonly version: number
}

/** In an update, `null` keeps the totals or the failures. */
export interface SessionRecord {
  readonly tenant: string
  readonly session_id: string
  readonly created_at: number
  readonly updated_at: number
  readonly totals: string | null
  readonly failures: string | null
  readonly version: number
}

/** In an update, `null` keeps the state or the derived data. */
export interface RunRecord {
  readonly tenant: string
  readonly session_id: string
  readonly run_id: string
  readonly tie_breaker: number
  readonly parent_run_id: string | null
  readonly top: number | null
  readonly status: string
  readonly provider: string | null
  readonly model: string | null
  readonly user_id: string | null
  /** The user of an agent's token, if the run shows another. */
  readonly agent_user_id: string | null
  readonly tags: string | null
  readonly state: string | null
  readonly derived: string | null
  readonly created_at: number
  readonly updated_at: number
  readonly last_seen_at: number
  readonly revision: number
  readonly open_since: number | null
  readonly pending_since: number | null
  readonly over_since: number | null
  readonly version: number
}

export interface RunTagRecord {
  readonly tenant: string
  readonly session_id: string
  readonly run_id: string
  readonly tag_key: string
  readonly tie_breaker: number
  readonly created_at: number
  readonly version: number
}

/** A row of `run_sums`: totals of the descendants of a run. */
export interface RunSumRecord {
  readonly tenant: string
  readonly session_id: string
  readonly run_id: string
  readonly totals: string
  readonly version: number
}

export interface SpendRecord {
  readonly tenant: string
  readonly user_id: string
  readonly day: number
  readonly part: number
  readonly spend: string
  readonly version: number
}

export interface RevocationRecord {
  readonly number: number
  readonly tenant: string
  readonly covers: string
  readonly covered: string
  readonly revoked_at: number
  readonly expires_at: number
  readonly version: number
}

/** A record of any kind. */
export interface PluginRecordRow {
  readonly kind: string
  readonly tenant: string
  readonly key: string
  readonly a: string | null
  readonly b: string | null
  readonly c: string | null
  readonly d: string | null
  readonly expires_at: number | null
  readonly body: string
  readonly version: number
}

export interface Records {
  readonly dispatches: DispatchRecord
  readonly states: StateRecord
  readonly contents: ContentRecord
  readonly jobs: JobRecord
  readonly listed: ListedRecord
  readonly digests: DigestRecord
  readonly members: MemberRecord
  readonly plan_sources: PlanSourceRecord
  readonly idempotency_keys: KeyRecord
  readonly counters: CounterRecord
  readonly sessions: SessionRecord
  readonly runs: RunRecord
  readonly run_tags: RunTagRecord
  readonly run_sums: RunSumRecord
  readonly spends: SpendRecord
  readonly revocations: RevocationRecord
  readonly plugin_records: PluginRecordRow
}

/** Kinds of changes of rows. `update`, `remove` and `compare` require the given version; `compare` changes nothing. */
export type ChangeKind = 'insert' | 'update' | 'remove' | 'compare'

export type TableName = keyof Records
