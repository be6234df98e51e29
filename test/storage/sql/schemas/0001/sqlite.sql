create table if not exists "sallyport_migrations" (
  name text not null,
  migrated_at integer not null,
  primary key (name)
);

create table if not exists "sallyport_dispatches" (
  "dispatch_id" text not null,
  "tenant" text not null,
  "made_by" text not null,
  "event_type" text not null,
  "recipient" text not null,
  "recipient_key" text not null,
  "session_id" text,
  "route" text not null,
  "critical" integer,
  "priority" integer,
  "sandboxed" integer,
  "locale" text,
  "created_at" integer not null,
  "version" integer not null,
  primary key ("dispatch_id")
);

create index if not exists "sallyport_dispatches_by_time" on "sallyport_dispatches" ("tenant", "created_at", "dispatch_id");

create index if not exists "sallyport_dispatches_by_session" on "sallyport_dispatches" ("tenant", "session_id", "created_at", "dispatch_id") where "session_id" is not null;

create index if not exists "sallyport_dispatches_by_recipient" on "sallyport_dispatches" ("tenant", "recipient_key", "created_at", "dispatch_id");

create index if not exists "sallyport_dispatches_by_event_type" on "sallyport_dispatches" ("tenant", "event_type", "created_at", "dispatch_id");

create table if not exists "sallyport_states" (
  "dispatch_id" text not null,
  "version" integer not null,
  "outcomes" text not null,
  "body" text not null,
  primary key ("dispatch_id")
);

create table if not exists "sallyport_contents" (
  "delivery_id" text not null,
  "dispatch_id" text not null,
  "body" text,
  "version" integer not null,
  primary key ("delivery_id")
);

create table if not exists "sallyport_jobs" (
  "delivery_id" text not null,
  "dispatch_id" text not null,
  "tenant" text not null,
  "channel" text not null,
  "priority" integer not null,
  "concurrency_key" text,
  "wake_at" integer not null,
  "waits_for" text,
  "expires_at" integer not null,
  "fence" text,
  "attempt" integer not null,
  "begun" text not null,
  "version" integer not null,
  primary key ("delivery_id")
);

create index if not exists "sallyport_jobs_due" on "sallyport_jobs" ("channel", "priority", "wake_at");

create index if not exists "sallyport_jobs_turns" on "sallyport_jobs" ("channel", "priority", "tenant", "wake_at");

create table if not exists "sallyport_listed" (
  "tenant" text not null,
  "status" text not null,
  "created_at" integer not null,
  "dispatch_id" text not null,
  "version" integer not null,
  primary key ("tenant", "status", "created_at", "dispatch_id")
);

create table if not exists "sallyport_digests" (
  "delivery_id" text not null,
  "open_key" text,
  "joined" integer not null,
  "body" text not null,
  "version" integer not null,
  primary key ("delivery_id")
);

create index if not exists "sallyport_digests_open" on "sallyport_digests" ("open_key") where "open_key" is not null;

create table if not exists "sallyport_members" (
  "delivery_id" text not null,
  "dispatch_id" text not null,
  "number" integer not null,
  "event_data" text not null,
  "version" integer not null,
  primary key ("delivery_id", "dispatch_id")
);

create table if not exists "sallyport_plan_sources" (
  "dispatch_id" text not null,
  "source" text not null,
  "version" integer not null,
  primary key ("dispatch_id")
);

create table if not exists "sallyport_idempotency_keys" (
  "tenant" text not null,
  "name" text not null,
  "fingerprint" text not null,
  "answer" text not null,
  "expires_at" integer not null,
  "version" integer not null,
  primary key ("tenant", "name")
);

create index if not exists "sallyport_idempotency_keys_expiring" on "sallyport_idempotency_keys" ("expires_at");

create table if not exists "sallyport_counters" (
  "tenant" text not null,
  "name" text not null,
  "times" text not null,
  "max" integer not null,
  "window_ms" integer not null,
  "expires_at" integer not null,
  "version" integer not null,
  primary key ("tenant", "name")
);

create index if not exists "sallyport_counters_expiring" on "sallyport_counters" ("expires_at");

create table if not exists "sallyport_sessions" (
  "tenant" text not null,
  "session_id" text not null,
  "created_at" integer not null,
  "updated_at" integer not null,
  "totals" text not null,
  "failures" text not null,
  "version" integer not null,
  primary key ("tenant", "session_id")
);

create index if not exists "sallyport_sessions_by_time" on "sallyport_sessions" ("tenant", "created_at", "session_id");

create table if not exists "sallyport_runs" (
  "tenant" text not null,
  "session_id" text not null,
  "run_id" text not null,
  "tie_breaker" integer not null,
  "parent_run_id" text,
  "top" integer,
  "status" text not null,
  "provider" text,
  "model" text,
  "user_id" text,
  "agent_user_id" text,
  "tags" text,
  "state" text not null,
  "derived" text not null,
  "created_at" integer not null,
  "updated_at" integer not null,
  "last_seen_at" integer not null,
  "revision" integer not null,
  "open_since" integer,
  "pending_since" integer,
  "over_since" integer,
  "version" integer not null,
  primary key ("run_id", "session_id", "tenant")
);

create index if not exists "sallyport_runs_by_time" on "sallyport_runs" ("tenant", "created_at", "tie_breaker");

create index if not exists "sallyport_runs_by_session" on "sallyport_runs" ("tenant", "session_id", "created_at", "tie_breaker");

create index if not exists "sallyport_runs_by_user" on "sallyport_runs" ("tenant", "user_id", "created_at", "tie_breaker") where "user_id" is not null;

create index if not exists "sallyport_runs_by_agent_user" on "sallyport_runs" ("tenant", "agent_user_id") where "agent_user_id" is not null;

create index if not exists "sallyport_runs_by_status" on "sallyport_runs" ("tenant", "status", "created_at", "tie_breaker");

create index if not exists "sallyport_runs_by_provider" on "sallyport_runs" ("tenant", "provider", "created_at", "tie_breaker") where "provider" is not null;

create index if not exists "sallyport_runs_by_model" on "sallyport_runs" ("tenant", "model", "created_at", "tie_breaker") where "model" is not null;

create index if not exists "sallyport_runs_open" on "sallyport_runs" ("open_since", "tie_breaker") where "open_since" is not null;

create index if not exists "sallyport_runs_pending" on "sallyport_runs" ("pending_since", "tie_breaker") where "pending_since" is not null;

create index if not exists "sallyport_runs_over" on "sallyport_runs" ("over_since") where "over_since" is not null;

create table if not exists "sallyport_run_tags" (
  "tenant" text not null,
  "session_id" text not null,
  "run_id" text not null,
  "tag_key" text not null,
  "tie_breaker" integer not null,
  "created_at" integer not null,
  "version" integer not null,
  primary key ("run_id", "session_id", "tenant", "tag_key")
);

create index if not exists "sallyport_run_tags_by_tag" on "sallyport_run_tags" ("tenant", "tag_key", "created_at", "tie_breaker");

create table if not exists "sallyport_run_sums" (
  "tenant" text not null,
  "session_id" text not null,
  "run_id" text not null,
  "totals" text not null,
  "version" integer not null,
  primary key ("tenant", "session_id", "run_id")
);

create table if not exists "sallyport_spends" (
  "tenant" text not null,
  "user_id" text not null,
  "day" integer not null,
  "part" integer not null,
  "spend" text not null,
  "version" integer not null,
  primary key ("tenant", "user_id", "day", "part")
);

create table if not exists "sallyport_revocations" (
  "number" integer not null,
  "tenant" text not null,
  "covers" text not null,
  "covered" text not null,
  "revoked_at" integer not null,
  "expires_at" integer not null,
  "version" integer not null,
  primary key ("number", "tenant")
);

create index if not exists "sallyport_revocations_expiring" on "sallyport_revocations" ("expires_at");

create table if not exists "sallyport_plugin_records" (
  "kind" text not null,
  "tenant" text not null,
  "key" text not null,
  "a" text,
  "b" text,
  "c" text,
  "d" text,
  "expires_at" integer,
  "body" text not null,
  "version" integer not null,
  primary key ("kind", "tenant", "key")
);

create index if not exists "sallyport_plugin_records_by_a" on "sallyport_plugin_records" ("kind", "tenant", "a", "key") where "a" is not null;

create index if not exists "sallyport_plugin_records_by_b" on "sallyport_plugin_records" ("kind", "tenant", "b", "key") where "b" is not null;

create index if not exists "sallyport_plugin_records_by_c" on "sallyport_plugin_records" ("kind", "tenant", "c", "key") where "c" is not null;

create index if not exists "sallyport_plugin_records_by_d" on "sallyport_plugin_records" ("kind", "tenant", "d", "key") where "d" is not null;

create index if not exists "sallyport_plugin_records_expiring" on "sallyport_plugin_records" ("kind", "expires_at") where "expires_at" is not null;

insert into "sallyport_migrations" (name, migrated_at) values ('0001_tables', cast(round((julianday('now') - 2440587.5) * 86400000) as integer));
