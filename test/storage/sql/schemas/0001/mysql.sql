create table if not exists `sallyport_migrations` (
  name varchar(200) not null,
  migrated_at bigint not null,
  primary key (name)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;

create table if not exists `sallyport_dispatches` (
  `dispatch_id` varchar(200) not null,
  `tenant` varchar(200) not null,
  `made_by` varchar(200) not null,
  `event_type` varchar(256) not null,
  `recipient` longtext not null,
  `recipient_key` varchar(200) not null,
  `session_id` varchar(200),
  `route` varchar(32) not null,
  `critical` tinyint,
  `priority` bigint,
  `sandboxed` tinyint,
  `locale` longtext,
  `created_at` bigint not null,
  `version` bigint not null,
  primary key (`dispatch_id`),
  index `sallyport_dispatches_by_time` (`tenant`, `created_at`, `dispatch_id`),
  index `sallyport_dispatches_by_session` (`tenant`, `session_id`, `created_at`, `dispatch_id`),
  index `sallyport_dispatches_by_recipient` (`tenant`, `recipient_key`, `created_at`, `dispatch_id`),
  index `sallyport_dispatches_by_event_type` (`tenant`, `event_type`, `created_at`, `dispatch_id`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;

create table if not exists `sallyport_states` (
  `dispatch_id` varchar(200) not null,
  `version` bigint not null,
  `outcomes` longtext not null,
  `body` longtext not null,
  primary key (`dispatch_id`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;

create table if not exists `sallyport_contents` (
  `delivery_id` varchar(200) not null,
  `dispatch_id` varchar(200) not null,
  `body` longtext,
  `version` bigint not null,
  primary key (`delivery_id`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;

create table if not exists `sallyport_jobs` (
  `delivery_id` varchar(200) not null,
  `dispatch_id` varchar(200) not null,
  `tenant` varchar(200) not null,
  `channel` varchar(200) not null,
  `priority` bigint not null,
  `concurrency_key` longtext,
  `wake_at` bigint not null,
  `waits_for` varchar(32),
  `expires_at` bigint not null,
  `fence` varchar(64),
  `attempt` bigint not null,
  `begun` longtext not null,
  `version` bigint not null,
  primary key (`delivery_id`),
  index `sallyport_jobs_due` (`channel`, `priority`, `wake_at`),
  index `sallyport_jobs_turns` (`channel`, `priority`, `tenant`, `wake_at`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;

create table if not exists `sallyport_listed` (
  `tenant` varchar(200) not null,
  `status` varchar(32) not null,
  `created_at` bigint not null,
  `dispatch_id` varchar(200) not null,
  `version` bigint not null,
  primary key (`tenant`, `status`, `created_at`, `dispatch_id`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;

create table if not exists `sallyport_digests` (
  `delivery_id` varchar(200) not null,
  `open_key` varchar(200),
  `joined` bigint not null,
  `body` longtext not null,
  `version` bigint not null,
  primary key (`delivery_id`),
  index `sallyport_digests_open` (`open_key`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;

create table if not exists `sallyport_members` (
  `delivery_id` varchar(200) not null,
  `dispatch_id` varchar(200) not null,
  `number` bigint not null,
  `event_data` longtext not null,
  `version` bigint not null,
  primary key (`delivery_id`, `dispatch_id`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;

create table if not exists `sallyport_plan_sources` (
  `dispatch_id` varchar(200) not null,
  `source` longtext not null,
  `version` bigint not null,
  primary key (`dispatch_id`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;

create table if not exists `sallyport_idempotency_keys` (
  `tenant` varchar(200) not null,
  `name` varchar(512) not null,
  `fingerprint` varchar(64) not null,
  `answer` longtext not null,
  `expires_at` bigint not null,
  `version` bigint not null,
  primary key (`tenant`, `name`),
  index `sallyport_idempotency_keys_expiring` (`expires_at`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;

create table if not exists `sallyport_counters` (
  `tenant` varchar(200) not null,
  `name` varchar(520) not null,
  `times` longtext not null,
  `max` bigint not null,
  `window_ms` bigint not null,
  `expires_at` bigint not null,
  `version` bigint not null,
  primary key (`tenant`, `name`),
  index `sallyport_counters_expiring` (`expires_at`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;

create table if not exists `sallyport_sessions` (
  `tenant` varchar(200) not null,
  `session_id` varchar(200) not null,
  `created_at` bigint not null,
  `updated_at` bigint not null,
  `totals` longtext not null,
  `failures` longtext not null,
  `version` bigint not null,
  primary key (`tenant`, `session_id`),
  index `sallyport_sessions_by_time` (`tenant`, `created_at`, `session_id`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;

create table if not exists `sallyport_runs` (
  `tenant` varchar(200) not null,
  `session_id` varchar(200) not null,
  `run_id` varchar(200) not null,
  `tie_breaker` bigint not null,
  `parent_run_id` varchar(200),
  `top` tinyint,
  `status` varchar(32) not null,
  `provider` varchar(200),
  `model` varchar(200),
  `user_id` varchar(200),
  `agent_user_id` varchar(200),
  `tags` longtext,
  `state` longtext not null,
  `derived` longtext not null,
  `created_at` bigint not null,
  `updated_at` bigint not null,
  `last_seen_at` bigint not null,
  `revision` bigint not null,
  `open_since` bigint,
  `pending_since` bigint,
  `over_since` bigint,
  `version` bigint not null,
  primary key (`run_id`, `session_id`, `tenant`),
  index `sallyport_runs_by_time` (`tenant`, `created_at`, `tie_breaker`),
  index `sallyport_runs_by_session` (`tenant`, `session_id`, `created_at`, `tie_breaker`),
  index `sallyport_runs_by_user` (`tenant`, `user_id`, `created_at`, `tie_breaker`),
  index `sallyport_runs_by_agent_user` (`tenant`, `agent_user_id`),
  index `sallyport_runs_by_status` (`tenant`, `status`, `created_at`, `tie_breaker`),
  index `sallyport_runs_by_provider` (`tenant`, `provider`, `created_at`, `tie_breaker`),
  index `sallyport_runs_by_model` (`tenant`, `model`, `created_at`, `tie_breaker`),
  index `sallyport_runs_open` (`open_since`, `tie_breaker`),
  index `sallyport_runs_pending` (`pending_since`, `tie_breaker`),
  index `sallyport_runs_over` (`over_since`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;

create table if not exists `sallyport_run_tags` (
  `tenant` varchar(200) not null,
  `session_id` varchar(200) not null,
  `run_id` varchar(200) not null,
  `tag_key` varchar(100) not null,
  `tie_breaker` bigint not null,
  `created_at` bigint not null,
  `version` bigint not null,
  primary key (`run_id`, `session_id`, `tenant`, `tag_key`),
  index `sallyport_run_tags_by_tag` (`tenant`, `tag_key`, `created_at`, `tie_breaker`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;

create table if not exists `sallyport_run_sums` (
  `tenant` varchar(200) not null,
  `session_id` varchar(200) not null,
  `run_id` varchar(200) not null,
  `totals` longtext not null,
  `version` bigint not null,
  primary key (`tenant`, `session_id`, `run_id`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;

create table if not exists `sallyport_spends` (
  `tenant` varchar(200) not null,
  `user_id` varchar(200) not null,
  `day` bigint not null,
  `part` bigint not null,
  `spend` longtext not null,
  `version` bigint not null,
  primary key (`tenant`, `user_id`, `day`, `part`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;

create table if not exists `sallyport_revocations` (
  `number` bigint not null,
  `tenant` varchar(200) not null,
  `covers` varchar(32) not null,
  `covered` varchar(200) not null,
  `revoked_at` bigint not null,
  `expires_at` bigint not null,
  `version` bigint not null,
  primary key (`number`, `tenant`),
  index `sallyport_revocations_expiring` (`expires_at`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;

create table if not exists `sallyport_plugin_records` (
  `kind` varchar(32) not null,
  `tenant` varchar(200) not null,
  `key` varchar(232) not null,
  `a` varchar(300),
  `b` varchar(300),
  `c` varchar(300),
  `d` varchar(300),
  `expires_at` bigint,
  `body` longtext not null,
  `version` bigint not null,
  primary key (`kind`, `tenant`, `key`),
  index `sallyport_plugin_records_by_a` (`kind`, `tenant`, `a`, `key`),
  index `sallyport_plugin_records_by_b` (`kind`, `tenant`, `b`, `key`),
  index `sallyport_plugin_records_by_c` (`kind`, `tenant`, `c`, `key`),
  index `sallyport_plugin_records_by_d` (`kind`, `tenant`, `d`, `key`),
  index `sallyport_plugin_records_expiring` (`kind`, `expires_at`)
) engine = InnoDB default character set utf8mb4 collate utf8mb4_0900_bin;

insert into `sallyport_migrations` (name, migrated_at) values ('0001_tables', (timestampdiff(microsecond, '1970-01-01', utc_timestamp(3)) div 1000));
