create table if not exists "sallyport_migrations" (
  name text collate "C" not null,
  migrated_at bigint not null,
  primary key (name)
);

create table if not exists "sallyport_dispatches" (
  "dispatch_id" text collate "C" not null,
  "tenant" text collate "C" not null,
  "made_by" text collate "C" not null,
  "event_type" text collate "C" not null,
  "recipient" text not null,
  "recipient_key" text collate "C" not null,
  "session_id" text collate "C",
  "route" text collate "C" not null,
  "critical" smallint,
  "priority" bigint,
  "sandboxed" smallint,
  "locale" text,
  "created_at" bigint not null,
  "version" bigint not null,
  primary key ("dispatch_id")
);

create index if not exists "sallyport_dispatches_by_time" on "sallyport_dispatches" ("tenant", "created_at", "dispatch_id");

create index if not exists "sallyport_dispatches_by_session" on "sallyport_dispatches" ("tenant", "session_id", "created_at", "dispatch_id") where "session_id" is not null;

create index if not exists "sallyport_dispatches_by_recipient" on "sallyport_dispatches" ("tenant", "recipient_key", "created_at", "dispatch_id");

create index if not exists "sallyport_dispatches_by_event_type" on "sallyport_dispatches" ("tenant", "event_type", "created_at", "dispatch_id");

create table if not exists "sallyport_states" (
  "dispatch_id" text collate "C" not null,
  "version" bigint not null,
  "outcomes" text not null,
  "body" text not null,
  primary key ("dispatch_id")
) with (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.02);

create table if not exists "sallyport_contents" (
  "delivery_id" text collate "C" not null,
  "dispatch_id" text collate "C" not null,
  "body" text,
  "version" bigint not null,
  primary key ("delivery_id")
);

create table if not exists "sallyport_jobs" (
  "delivery_id" text collate "C" not null,
  "dispatch_id" text collate "C" not null,
  "tenant" text collate "C" not null,
  "channel" text collate "C" not null,
  "priority" bigint not null,
  "concurrency_key" text,
  "wake_at" bigint not null,
  "waits_for" text collate "C",
  "expires_at" bigint not null,
  "fence" text collate "C",
  "attempt" bigint not null,
  "begun" text not null,
  "version" bigint not null,
  primary key ("delivery_id")
) with (fillfactor = 60, autovacuum_vacuum_scale_factor = 0.02);

create index if not exists "sallyport_jobs_due" on "sallyport_jobs" ("channel", "priority", "wake_at");

create index if not exists "sallyport_jobs_turns" on "sallyport_jobs" ("channel", "priority", "tenant", "wake_at");

create table if not exists "sallyport_listed" (
  "tenant" text collate "C" not null,
  "status" text collate "C" not null,
  "created_at" bigint not null,
  "dispatch_id" text collate "C" not null,
  "version" bigint not null,
  primary key ("tenant", "status", "created_at", "dispatch_id")
) with (autovacuum_vacuum_scale_factor = 0.02);

create table if not exists "sallyport_digests" (
  "delivery_id" text collate "C" not null,
  "open_key" text collate "C",
  "joined" bigint not null,
  "body" text not null,
  "version" bigint not null,
  primary key ("delivery_id")
);

create index if not exists "sallyport_digests_open" on "sallyport_digests" ("open_key") where "open_key" is not null;

create table if not exists "sallyport_members" (
  "delivery_id" text collate "C" not null,
  "dispatch_id" text collate "C" not null,
  "number" bigint not null,
  "event_data" text not null,
  "version" bigint not null,
  primary key ("delivery_id", "dispatch_id")
);

create table if not exists "sallyport_plan_sources" (
  "dispatch_id" text collate "C" not null,
  "source" text not null,
  "version" bigint not null,
  primary key ("dispatch_id")
);

create table if not exists "sallyport_idempotency_keys" (
  "tenant" text collate "C" not null,
  "name" text collate "C" not null,
  "fingerprint" text collate "C" not null,
  "answer" text not null,
  "expires_at" bigint not null,
  "version" bigint not null,
  primary key ("tenant", "name")
);

create index if not exists "sallyport_idempotency_keys_expiring" on "sallyport_idempotency_keys" ("expires_at");

create table if not exists "sallyport_counters" (
  "tenant" text collate "C" not null,
  "name" text collate "C" not null,
  "times" text not null,
  "max" bigint not null,
  "window_ms" bigint not null,
  "expires_at" bigint not null,
  "version" bigint not null,
  primary key ("tenant", "name")
) with (autovacuum_vacuum_scale_factor = 0.02);

create index if not exists "sallyport_counters_expiring" on "sallyport_counters" ("expires_at");

create table if not exists "sallyport_sessions" (
  "tenant" text collate "C" not null,
  "session_id" text collate "C" not null,
  "created_at" bigint not null,
  "updated_at" bigint not null,
  "totals" text not null,
  "failures" text not null,
  "version" bigint not null,
  primary key ("tenant", "session_id")
) with (autovacuum_vacuum_scale_factor = 0.02);

create index if not exists "sallyport_sessions_by_time" on "sallyport_sessions" ("tenant", "created_at", "session_id");

create table if not exists "sallyport_runs" (
  "tenant" text collate "C" not null,
  "session_id" text collate "C" not null,
  "run_id" text collate "C" not null,
  "tie_breaker" bigint not null,
  "parent_run_id" text collate "C",
  "top" smallint,
  "status" text collate "C" not null,
  "provider" text collate "C",
  "model" text collate "C",
  "user_id" text collate "C",
  "agent_user_id" text collate "C",
  "tags" text,
  "state" text not null,
  "derived" text not null,
  "created_at" bigint not null,
  "updated_at" bigint not null,
  "last_seen_at" bigint not null,
  "revision" bigint not null,
  "open_since" bigint,
  "pending_since" bigint,
  "over_since" bigint,
  "version" bigint not null,
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
  "tenant" text collate "C" not null,
  "session_id" text collate "C" not null,
  "run_id" text collate "C" not null,
  "tag_key" text collate "C" not null,
  "tie_breaker" bigint not null,
  "created_at" bigint not null,
  "version" bigint not null,
  primary key ("run_id", "session_id", "tenant", "tag_key")
);

create index if not exists "sallyport_run_tags_by_tag" on "sallyport_run_tags" ("tenant", "tag_key", "created_at", "tie_breaker");

create table if not exists "sallyport_run_sums" (
  "tenant" text collate "C" not null,
  "session_id" text collate "C" not null,
  "run_id" text collate "C" not null,
  "totals" text not null,
  "version" bigint not null,
  primary key ("tenant", "session_id", "run_id")
);

create table if not exists "sallyport_spends" (
  "tenant" text collate "C" not null,
  "user_id" text collate "C" not null,
  "day" bigint not null,
  "part" bigint not null,
  "spend" text not null,
  "version" bigint not null,
  primary key ("tenant", "user_id", "day", "part")
);

create table if not exists "sallyport_revocations" (
  "number" bigint not null,
  "tenant" text collate "C" not null,
  "covers" text collate "C" not null,
  "covered" text collate "C" not null,
  "revoked_at" bigint not null,
  "expires_at" bigint not null,
  "version" bigint not null,
  primary key ("number", "tenant")
);

create index if not exists "sallyport_revocations_expiring" on "sallyport_revocations" ("expires_at");

create table if not exists "sallyport_plugin_records" (
  "kind" text collate "C" not null,
  "tenant" text collate "C" not null,
  "key" text collate "C" not null,
  "a" text collate "C",
  "b" text collate "C",
  "c" text collate "C",
  "d" text collate "C",
  "expires_at" bigint,
  "body" text not null,
  "version" bigint not null,
  primary key ("kind", "tenant", "key")
);

create index if not exists "sallyport_plugin_records_by_a" on "sallyport_plugin_records" ("kind", "tenant", "a", "key") where "a" is not null;

create index if not exists "sallyport_plugin_records_by_b" on "sallyport_plugin_records" ("kind", "tenant", "b", "key") where "b" is not null;

create index if not exists "sallyport_plugin_records_by_c" on "sallyport_plugin_records" ("kind", "tenant", "c", "key") where "c" is not null;

create index if not exists "sallyport_plugin_records_by_d" on "sallyport_plugin_records" ("kind", "tenant", "d", "key") where "d" is not null;

create index if not exists "sallyport_plugin_records_expiring" on "sallyport_plugin_records" ("kind", "expires_at") where "expires_at" is not null;

insert into "sallyport_migrations" (name, migrated_at) values ('0001_tables', floor(extract(epoch from statement_timestamp()) * 1000)::bigint);
