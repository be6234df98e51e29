create or replace function "sallyport_insert_1"(of_table text, given json, amount bigint) returns void language plpgsql  as $body$
  #variable_conflict use_column
  declare changed bigint;
  begin
    case of_table
      when 'dispatches' then insert into "sallyport_dispatches" ("dispatch_id", "tenant", "made_by", "event_type", "recipient", "recipient_key", "session_id", "route", "critical", "priority", "sandboxed", "locale", "created_at", "version") select "dispatch_id", "tenant", "made_by", "event_type", "recipient", "recipient_key", "session_id", "route", "critical", "priority", "sandboxed", "locale", "created_at", "version" from json_to_recordset(given::json) as x(dispatch_id text, tenant text, made_by text, event_type text, recipient text, recipient_key text, session_id text, route text, critical bigint, priority bigint, sandboxed bigint, locale text, created_at bigint, version bigint);
      when 'states' then insert into "sallyport_states" ("dispatch_id", "version", "outcomes", "body") select "dispatch_id", "version", "outcomes", "body" from json_to_recordset(given::json) as x(dispatch_id text, version bigint, outcomes text, body text);
      when 'contents' then insert into "sallyport_contents" ("delivery_id", "dispatch_id", "body", "version") select "delivery_id", "dispatch_id", "body", "version" from json_to_recordset(given::json) as x(delivery_id text, dispatch_id text, body text, version bigint);
      when 'jobs' then insert into "sallyport_jobs" ("delivery_id", "dispatch_id", "tenant", "channel", "priority", "concurrency_key", "wake_at", "waits_for", "expires_at", "fence", "attempt", "begun", "version") select "delivery_id", "dispatch_id", "tenant", "channel", "priority", "concurrency_key", "wake_at", "waits_for", "expires_at", "fence", "attempt", "begun", "version" from json_to_recordset(given::json) as x(delivery_id text, dispatch_id text, tenant text, channel text, priority bigint, concurrency_key text, wake_at bigint, waits_for text, expires_at bigint, fence text, attempt bigint, begun text, version bigint);
      when 'listed' then insert into "sallyport_listed" ("tenant", "status", "created_at", "dispatch_id", "version") select "tenant", "status", "created_at", "dispatch_id", "version" from json_to_recordset(given::json) as x(tenant text, status text, created_at bigint, dispatch_id text, version bigint);
      when 'digests' then insert into "sallyport_digests" ("delivery_id", "open_key", "joined", "body", "version") select "delivery_id", "open_key", "joined", "body", "version" from json_to_recordset(given::json) as x(delivery_id text, open_key text, joined bigint, body text, version bigint);
      when 'members' then insert into "sallyport_members" ("delivery_id", "dispatch_id", "number", "event_data", "version") select "delivery_id", "dispatch_id", "number", "event_data", "version" from json_to_recordset(given::json) as x(delivery_id text, dispatch_id text, number bigint, event_data text, version bigint);
      when 'plan_sources' then insert into "sallyport_plan_sources" ("dispatch_id", "source", "version") select "dispatch_id", "source", "version" from json_to_recordset(given::json) as x(dispatch_id text, source text, version bigint);
      when 'idempotency_keys' then insert into "sallyport_idempotency_keys" ("tenant", "name", "fingerprint", "answer", "expires_at", "version") select "tenant", "name", "fingerprint", "answer", "expires_at", "version" from json_to_recordset(given::json) as x(tenant text, name text, fingerprint text, answer text, expires_at bigint, version bigint);
      when 'counters' then insert into "sallyport_counters" ("tenant", "name", "times", "max", "window_ms", "expires_at", "version") select "tenant", "name", "times", "max", "window_ms", "expires_at", "version" from json_to_recordset(given::json) as x(tenant text, name text, times text, max bigint, window_ms bigint, expires_at bigint, version bigint);
      when 'sessions' then insert into "sallyport_sessions" ("tenant", "session_id", "created_at", "updated_at", "totals", "failures", "version") select "tenant", "session_id", "created_at", "updated_at", "totals", "failures", "version" from json_to_recordset(given::json) as x(tenant text, session_id text, created_at bigint, updated_at bigint, totals text, failures text, version bigint);
      when 'runs' then insert into "sallyport_runs" ("tenant", "session_id", "run_id", "tie_breaker", "parent_run_id", "top", "status", "provider", "model", "user_id", "agent_user_id", "tags", "state", "derived", "created_at", "updated_at", "last_seen_at", "revision", "open_since", "pending_since", "over_since", "version") select "tenant", "session_id", "run_id", "tie_breaker", "parent_run_id", "top", "status", "provider", "model", "user_id", "agent_user_id", "tags", "state", "derived", "created_at", "updated_at", "last_seen_at", "revision", "open_since", "pending_since", "over_since", "version" from json_to_recordset(given::json) as x(tenant text, session_id text, run_id text, tie_breaker bigint, parent_run_id text, top bigint, status text, provider text, model text, user_id text, agent_user_id text, tags text, state text, derived text, created_at bigint, updated_at bigint, last_seen_at bigint, revision bigint, open_since bigint, pending_since bigint, over_since bigint, version bigint);
      when 'run_tags' then insert into "sallyport_run_tags" ("tenant", "session_id", "run_id", "tag_key", "tie_breaker", "created_at", "version") select "tenant", "session_id", "run_id", "tag_key", "tie_breaker", "created_at", "version" from json_to_recordset(given::json) as x(tenant text, session_id text, run_id text, tag_key text, tie_breaker bigint, created_at bigint, version bigint);
      when 'run_sums' then insert into "sallyport_run_sums" ("tenant", "session_id", "run_id", "totals", "version") select "tenant", "session_id", "run_id", "totals", "version" from json_to_recordset(given::json) as x(tenant text, session_id text, run_id text, totals text, version bigint);
      when 'spends' then insert into "sallyport_spends" ("tenant", "user_id", "day", "part", "spend", "version") select "tenant", "user_id", "day", "part", "spend", "version" from json_to_recordset(given::json) as x(tenant text, user_id text, day bigint, part bigint, spend text, version bigint);
      when 'revocations' then insert into "sallyport_revocations" ("number", "tenant", "covers", "covered", "revoked_at", "expires_at", "version") select "number", "tenant", "covers", "covered", "revoked_at", "expires_at", "version" from json_to_recordset(given::json) as x(number bigint, tenant text, covers text, covered text, revoked_at bigint, expires_at bigint, version bigint);
      when 'plugin_records' then insert into "sallyport_plugin_records" ("kind", "tenant", "key", "a", "b", "c", "d", "expires_at", "body", "version") select "kind", "tenant", "key", "a", "b", "c", "d", "expires_at", "body", "version" from json_to_recordset(given::json) as x(kind text, tenant text, key text, a text, b text, c text, d text, expires_at bigint, body text, version bigint);
    end case;
    get diagnostics changed = row_count;
    if changed <> amount then raise exception 'not as it was read' using errcode = '40001'; end if;
  end $body$;

create or replace function "sallyport_update_1"(of_table text, given json, amount bigint) returns void language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan as $body$
  #variable_conflict use_column
  declare changed bigint;
  begin
    case of_table
      when 'dispatches' then update "sallyport_dispatches" as d set "version" = d.version + 1 from (select x.*, o.found_at from json_to_recordset(given::json) as x(dispatch_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_dispatches" o where o."dispatch_id" = x."dispatch_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'states' then update "sallyport_states" as d set "version" = d.version + 1, "outcomes" = x."outcomes", "body" = coalesce(x."body", d."body") from (select x.*, o.found_at from json_to_recordset(given::json) as x(dispatch_id text, version bigint, outcomes text, body text) cross join lateral (select o.ctid as found_at from "sallyport_states" o where o."dispatch_id" = x."dispatch_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'contents' then update "sallyport_contents" as d set "body" = x."body", "version" = d.version + 1 from (select x.*, o.found_at from json_to_recordset(given::json) as x(delivery_id text, body text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_contents" o where o."delivery_id" = x."delivery_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'jobs' then update "sallyport_jobs" as d set "dispatch_id" = x."dispatch_id", "priority" = x."priority", "wake_at" = x."wake_at", "waits_for" = x."waits_for", "expires_at" = x."expires_at", "fence" = x."fence", "attempt" = x."attempt", "begun" = x."begun", "version" = d.version + 1 from (select x.*, o.found_at from json_to_recordset(given::json) as x(delivery_id text, dispatch_id text, priority bigint, wake_at bigint, waits_for text, expires_at bigint, fence text, attempt bigint, begun text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_jobs" o where o."delivery_id" = x."delivery_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'listed' then update "sallyport_listed" as d set "status" = x."status" from (select x.*, o.found_at from json_to_recordset(given::json) as x(tenant text, status text, created_at bigint, dispatch_id text, version bigint, was text) cross join lateral (select o.ctid as found_at from "sallyport_listed" o where o."tenant" = x."tenant" and o."status" = x."was" and o."created_at" = x."created_at" and o."dispatch_id" = x."dispatch_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'digests' then update "sallyport_digests" as d set "open_key" = x."open_key", "joined" = x."joined", "body" = x."body", "version" = d.version + 1 from (select x.*, o.found_at from json_to_recordset(given::json) as x(delivery_id text, open_key text, joined bigint, body text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_digests" o where o."delivery_id" = x."delivery_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'members' then update "sallyport_members" as d set "version" = d.version + 1 from (select x.*, o.found_at from json_to_recordset(given::json) as x(delivery_id text, dispatch_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_members" o where o."delivery_id" = x."delivery_id" and o."dispatch_id" = x."dispatch_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'plan_sources' then update "sallyport_plan_sources" as d set "version" = d.version + 1 from (select x.*, o.found_at from json_to_recordset(given::json) as x(dispatch_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_plan_sources" o where o."dispatch_id" = x."dispatch_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'idempotency_keys' then update "sallyport_idempotency_keys" as d set "fingerprint" = x."fingerprint", "answer" = x."answer", "expires_at" = x."expires_at", "version" = d.version + 1 from (select x.*, o.found_at from json_to_recordset(given::json) as x(tenant text, name text, fingerprint text, answer text, expires_at bigint, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_idempotency_keys" o where o."tenant" = x."tenant" and o."name" = x."name" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'counters' then update "sallyport_counters" as d set "times" = x."times", "max" = x."max", "window_ms" = x."window_ms", "expires_at" = x."expires_at", "version" = d.version + 1 from (select x.*, o.found_at from json_to_recordset(given::json) as x(tenant text, name text, times text, max bigint, window_ms bigint, expires_at bigint, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_counters" o where o."tenant" = x."tenant" and o."name" = x."name" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'sessions' then update "sallyport_sessions" as d set "updated_at" = x."updated_at", "totals" = coalesce(x."totals", d."totals"), "failures" = coalesce(x."failures", d."failures"), "version" = d.version + 1 from (select x.*, o.found_at from json_to_recordset(given::json) as x(tenant text, session_id text, updated_at bigint, totals text, failures text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_sessions" o where o."tenant" = x."tenant" and o."session_id" = x."session_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'runs' then update "sallyport_runs" as d set "parent_run_id" = x."parent_run_id", "top" = x."top", "status" = x."status", "provider" = x."provider", "model" = x."model", "user_id" = x."user_id", "agent_user_id" = x."agent_user_id", "tags" = x."tags", "state" = coalesce(x."state", d."state"), "derived" = coalesce(x."derived", d."derived"), "updated_at" = x."updated_at", "last_seen_at" = x."last_seen_at", "revision" = x."revision", "open_since" = x."open_since", "pending_since" = x."pending_since", "over_since" = x."over_since", "version" = d.version + 1 from (select x.*, o.found_at from json_to_recordset(given::json) as x(tenant text, session_id text, run_id text, parent_run_id text, top bigint, status text, provider text, model text, user_id text, agent_user_id text, tags text, state text, derived text, updated_at bigint, last_seen_at bigint, revision bigint, open_since bigint, pending_since bigint, over_since bigint, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_runs" o where (o."run_id", o."session_id", o."tenant") >= (x."run_id", x."session_id", x."tenant") and (o."run_id", o."session_id", o."tenant") <= (x."run_id", x."session_id", x."tenant") and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'run_tags' then update "sallyport_run_tags" as d set "version" = d.version + 1 from (select x.*, o.found_at from json_to_recordset(given::json) as x(tenant text, session_id text, run_id text, tag_key text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_run_tags" o where (o."run_id", o."session_id", o."tenant", o."tag_key") >= (x."run_id", x."session_id", x."tenant", x."tag_key") and (o."run_id", o."session_id", o."tenant", o."tag_key") <= (x."run_id", x."session_id", x."tenant", x."tag_key") and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'run_sums' then update "sallyport_run_sums" as d set "totals" = x."totals", "version" = d.version + 1 from (select x.*, o.found_at from json_to_recordset(given::json) as x(tenant text, session_id text, run_id text, totals text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_run_sums" o where o."tenant" = x."tenant" and o."session_id" = x."session_id" and o."run_id" = x."run_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'spends' then update "sallyport_spends" as d set "spend" = x."spend", "version" = d.version + 1 from (select x.*, o.found_at from json_to_recordset(given::json) as x(tenant text, user_id text, day bigint, part bigint, spend text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_spends" o where o."tenant" = x."tenant" and o."user_id" = x."user_id" and o."day" = x."day" and o."part" = x."part" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'revocations' then update "sallyport_revocations" as d set "revoked_at" = x."revoked_at", "version" = d.version + 1 from (select x.*, o.found_at from json_to_recordset(given::json) as x(number bigint, tenant text, revoked_at bigint, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_revocations" o where o."number" = x."number" and o."tenant" = x."tenant" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'plugin_records' then update "sallyport_plugin_records" as d set "a" = x."a", "b" = x."b", "c" = x."c", "d" = x."d", "expires_at" = x."expires_at", "body" = x."body", "version" = d.version + 1 from (select x.*, o.found_at from json_to_recordset(given::json) as x(kind text, tenant text, key text, a text, b text, c text, d text, expires_at bigint, body text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_plugin_records" o where o."kind" = x."kind" and o."tenant" = x."tenant" and o."key" = x."key" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
    end case;
    get diagnostics changed = row_count;
    if changed <> amount then raise exception 'not as it was read' using errcode = '40001'; end if;
  end $body$;

create or replace function "sallyport_remove_1"(of_table text, given json, amount bigint) returns void language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan as $body$
  #variable_conflict use_column
  declare changed bigint;
  begin
    case of_table
      when 'dispatches' then delete from "sallyport_dispatches" as d using (select x.version, o.found_at from json_to_recordset(given::json) as x(dispatch_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_dispatches" o where o."dispatch_id" = x."dispatch_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'states' then delete from "sallyport_states" as d using (select x.version, o.found_at from json_to_recordset(given::json) as x(dispatch_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_states" o where o."dispatch_id" = x."dispatch_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'contents' then delete from "sallyport_contents" as d using (select x.version, o.found_at from json_to_recordset(given::json) as x(delivery_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_contents" o where o."delivery_id" = x."delivery_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'jobs' then delete from "sallyport_jobs" as d using (select x.version, o.found_at from json_to_recordset(given::json) as x(delivery_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_jobs" o where o."delivery_id" = x."delivery_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'listed' then delete from "sallyport_listed" as d using (select x.version, o.found_at from json_to_recordset(given::json) as x(tenant text, status text, created_at bigint, dispatch_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_listed" o where o."tenant" = x."tenant" and o."status" = x."status" and o."created_at" = x."created_at" and o."dispatch_id" = x."dispatch_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'digests' then delete from "sallyport_digests" as d using (select x.version, o.found_at from json_to_recordset(given::json) as x(delivery_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_digests" o where o."delivery_id" = x."delivery_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'members' then delete from "sallyport_members" as d using (select x.version, o.found_at from json_to_recordset(given::json) as x(delivery_id text, dispatch_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_members" o where o."delivery_id" = x."delivery_id" and o."dispatch_id" = x."dispatch_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'plan_sources' then delete from "sallyport_plan_sources" as d using (select x.version, o.found_at from json_to_recordset(given::json) as x(dispatch_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_plan_sources" o where o."dispatch_id" = x."dispatch_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'idempotency_keys' then delete from "sallyport_idempotency_keys" as d using (select x.version, o.found_at from json_to_recordset(given::json) as x(tenant text, name text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_idempotency_keys" o where o."tenant" = x."tenant" and o."name" = x."name" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'counters' then delete from "sallyport_counters" as d using (select x.version, o.found_at from json_to_recordset(given::json) as x(tenant text, name text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_counters" o where o."tenant" = x."tenant" and o."name" = x."name" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'sessions' then delete from "sallyport_sessions" as d using (select x.version, o.found_at from json_to_recordset(given::json) as x(tenant text, session_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_sessions" o where o."tenant" = x."tenant" and o."session_id" = x."session_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'runs' then delete from "sallyport_runs" as d using (select x.version, o.found_at from json_to_recordset(given::json) as x(tenant text, session_id text, run_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_runs" o where (o."run_id", o."session_id", o."tenant") >= (x."run_id", x."session_id", x."tenant") and (o."run_id", o."session_id", o."tenant") <= (x."run_id", x."session_id", x."tenant") and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'run_tags' then delete from "sallyport_run_tags" as d using (select x.version, o.found_at from json_to_recordset(given::json) as x(tenant text, session_id text, run_id text, tag_key text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_run_tags" o where (o."run_id", o."session_id", o."tenant", o."tag_key") >= (x."run_id", x."session_id", x."tenant", x."tag_key") and (o."run_id", o."session_id", o."tenant", o."tag_key") <= (x."run_id", x."session_id", x."tenant", x."tag_key") and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'run_sums' then delete from "sallyport_run_sums" as d using (select x.version, o.found_at from json_to_recordset(given::json) as x(tenant text, session_id text, run_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_run_sums" o where o."tenant" = x."tenant" and o."session_id" = x."session_id" and o."run_id" = x."run_id" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'spends' then delete from "sallyport_spends" as d using (select x.version, o.found_at from json_to_recordset(given::json) as x(tenant text, user_id text, day bigint, part bigint, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_spends" o where o."tenant" = x."tenant" and o."user_id" = x."user_id" and o."day" = x."day" and o."part" = x."part" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'revocations' then delete from "sallyport_revocations" as d using (select x.version, o.found_at from json_to_recordset(given::json) as x(number bigint, tenant text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_revocations" o where o."number" = x."number" and o."tenant" = x."tenant" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
      when 'plugin_records' then delete from "sallyport_plugin_records" as d using (select x.version, o.found_at from json_to_recordset(given::json) as x(kind text, tenant text, key text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_plugin_records" o where o."kind" = x."kind" and o."tenant" = x."tenant" and o."key" = x."key" and o.version = x.version offset 0) o) x where d.ctid = x.found_at and d.version = x.version;
    end case;
    get diagnostics changed = row_count;
    if changed <> amount then raise exception 'not as it was read' using errcode = '40001'; end if;
  end $body$;

create or replace function "sallyport_compare_1"(of_table text, given json, amount bigint) returns void language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan as $body$
  #variable_conflict use_column
  declare changed bigint;
  begin
    case of_table
      when 'dispatches' then perform 1 from (select x.version, o.found_at from json_to_recordset(given::json) as x(dispatch_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_dispatches" o where o."dispatch_id" = x."dispatch_id" and o.version = x.version offset 0) o) x;
      when 'states' then perform 1 from (select x.version, o.found_at from json_to_recordset(given::json) as x(dispatch_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_states" o where o."dispatch_id" = x."dispatch_id" and o.version = x.version offset 0) o) x;
      when 'contents' then perform 1 from (select x.version, o.found_at from json_to_recordset(given::json) as x(delivery_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_contents" o where o."delivery_id" = x."delivery_id" and o.version = x.version offset 0) o) x;
      when 'jobs' then perform 1 from (select x.version, o.found_at from json_to_recordset(given::json) as x(delivery_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_jobs" o where o."delivery_id" = x."delivery_id" and o.version = x.version offset 0) o) x;
      when 'listed' then perform 1 from (select x.version, o.found_at from json_to_recordset(given::json) as x(tenant text, status text, created_at bigint, dispatch_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_listed" o where o."tenant" = x."tenant" and o."status" = x."status" and o."created_at" = x."created_at" and o."dispatch_id" = x."dispatch_id" and o.version = x.version offset 0) o) x;
      when 'digests' then perform 1 from (select x.version, o.found_at from json_to_recordset(given::json) as x(delivery_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_digests" o where o."delivery_id" = x."delivery_id" and o.version = x.version offset 0) o) x;
      when 'members' then perform 1 from (select x.version, o.found_at from json_to_recordset(given::json) as x(delivery_id text, dispatch_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_members" o where o."delivery_id" = x."delivery_id" and o."dispatch_id" = x."dispatch_id" and o.version = x.version offset 0) o) x;
      when 'plan_sources' then perform 1 from (select x.version, o.found_at from json_to_recordset(given::json) as x(dispatch_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_plan_sources" o where o."dispatch_id" = x."dispatch_id" and o.version = x.version offset 0) o) x;
      when 'idempotency_keys' then perform 1 from (select x.version, o.found_at from json_to_recordset(given::json) as x(tenant text, name text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_idempotency_keys" o where o."tenant" = x."tenant" and o."name" = x."name" and o.version = x.version offset 0) o) x;
      when 'counters' then perform 1 from (select x.version, o.found_at from json_to_recordset(given::json) as x(tenant text, name text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_counters" o where o."tenant" = x."tenant" and o."name" = x."name" and o.version = x.version offset 0) o) x;
      when 'sessions' then perform 1 from (select x.version, o.found_at from json_to_recordset(given::json) as x(tenant text, session_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_sessions" o where o."tenant" = x."tenant" and o."session_id" = x."session_id" and o.version = x.version offset 0) o) x;
      when 'runs' then perform 1 from (select x.version, o.found_at from json_to_recordset(given::json) as x(tenant text, session_id text, run_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_runs" o where (o."run_id", o."session_id", o."tenant") >= (x."run_id", x."session_id", x."tenant") and (o."run_id", o."session_id", o."tenant") <= (x."run_id", x."session_id", x."tenant") and o.version = x.version offset 0) o) x;
      when 'run_tags' then perform 1 from (select x.version, o.found_at from json_to_recordset(given::json) as x(tenant text, session_id text, run_id text, tag_key text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_run_tags" o where (o."run_id", o."session_id", o."tenant", o."tag_key") >= (x."run_id", x."session_id", x."tenant", x."tag_key") and (o."run_id", o."session_id", o."tenant", o."tag_key") <= (x."run_id", x."session_id", x."tenant", x."tag_key") and o.version = x.version offset 0) o) x;
      when 'run_sums' then perform 1 from (select x.version, o.found_at from json_to_recordset(given::json) as x(tenant text, session_id text, run_id text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_run_sums" o where o."tenant" = x."tenant" and o."session_id" = x."session_id" and o."run_id" = x."run_id" and o.version = x.version offset 0) o) x;
      when 'spends' then perform 1 from (select x.version, o.found_at from json_to_recordset(given::json) as x(tenant text, user_id text, day bigint, part bigint, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_spends" o where o."tenant" = x."tenant" and o."user_id" = x."user_id" and o."day" = x."day" and o."part" = x."part" and o.version = x.version offset 0) o) x;
      when 'revocations' then perform 1 from (select x.version, o.found_at from json_to_recordset(given::json) as x(number bigint, tenant text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_revocations" o where o."number" = x."number" and o."tenant" = x."tenant" and o.version = x.version offset 0) o) x;
      when 'plugin_records' then perform 1 from (select x.version, o.found_at from json_to_recordset(given::json) as x(kind text, tenant text, key text, version bigint) cross join lateral (select o.ctid as found_at from "sallyport_plugin_records" o where o."kind" = x."kind" and o."tenant" = x."tenant" and o."key" = x."key" and o.version = x.version offset 0) o) x;
    end case;
    get diagnostics changed = row_count;
    if changed <> amount then raise exception 'not as it was read' using errcode = '40001'; end if;
  end $body$;

create or replace function "sallyport_claim_1"(channels json, busy json, ranges json, full_ json, lease_ms bigint, mark text, at bigint) returns table (summary text, "delivery_id" text, "dispatch_id" text, "tenant" text, "channel" text, "priority" bigint, "concurrency_key" text, "wake_at" bigint, "waits_for" text, "expires_at" bigint, "fence" text, "attempt" bigint, "begun" text, "version" bigint, "h_dispatch_id" text, "h_tenant" text, "h_made_by" text, "h_event_type" text, "h_recipient" text, "h_recipient_key" text, "h_session_id" text, "h_route" text, "h_critical" smallint, "h_priority" bigint, "h_sandboxed" smallint, "h_locale" text, "h_created_at" bigint, "h_version" bigint, "s_dispatch_id" text, "s_version" bigint, "s_outcomes" text, "s_body" text, "c_delivery_id" text, "c_dispatch_id" text, "c_body" text, "c_version" bigint) language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan as $body$
  #variable_conflict use_column
  begin
    return query with asked as materialized (
      select * from json_to_recordset(channels) as a(channel text, amount bigint, urgent_since bigint, since bigint, is_shared boolean)
    ), oldest as materialized (
      select found.* from asked a cross join lateral (
        select j.* from (values (0, a.urgent_since), (1, a.since)) as q(priority, since) cross join lateral (
          select d.* from "sallyport_jobs" d
          where d.channel = a.channel and d.priority = q.priority and d.wake_at >= q.since and d.wake_at <= at and (d.concurrency_key is null or (
          (d.channel, d.concurrency_key) not in (select b.channel, b.concurrency_key from json_to_recordset(busy) as b(channel text, concurrency_key text, tenant text) where b.tenant is null)
          and (d.channel, d.tenant, d.concurrency_key) not in (
            select b.channel, b.tenant, b.concurrency_key from json_to_recordset(busy) as b(channel text, concurrency_key text, tenant text) where b.tenant is not null
          )
        ))
          order by d.wake_at limit a.amount for update skip locked
        ) j
        limit a.amount
      ) found
      where not a.is_shared
    ), seen as materialized (
      select s.channel, s.priority, s.number, f.known, f.tenant, f.first_at, a.is_shared,
        a.amount - case when s.priority = 0 then 0 else a.urgent end as amount
      from (
        select a.*, (select count(*) from oldest o where o.channel = a.channel) as jobs,
          (select count(*) from oldest o where o.channel = a.channel and o.priority = 0) as urgent
        from asked a
      ) a cross join lateral (
        select * from json_to_recordset(ranges) as s(channel text, priority bigint, number bigint, low text, high text, since bigint, known text, known_since bigint)
        where s.channel = a.channel
          and (a.is_shared or s.priority = case when a.urgent < a.amount then 1 else 0 end)
      ) s cross join lateral (
        select 0 as known, between_.tenant, between_.wake_at as first_at from (select d.tenant, d.wake_at from "sallyport_jobs" as d
      where d.channel = s.channel and d.priority = s.priority and d.tenant > s.low and d.tenant < s.high
        and d.wake_at >= s.since
      order by d.tenant, d.wake_at limit 1) between_
        union all select 1, s.known, known_.wake_at from (select d.tenant, d.wake_at from "sallyport_jobs" as d where d.channel = s.channel and d.priority = s.priority and (d.tenant, d.wake_at) >= (s.known, s.known_since) and (d.tenant, d.wake_at) <= (s.known, 9007199254740991) order by d.tenant, d.wake_at limit 1) known_
      ) f
      where a.amount > 0 and (a.is_shared or a.jobs >= a.amount)
    ), visited as materialized (
      select s.*, row_number() over (partition by s.channel, s.priority order by s.number, s.known) as place from seen s
      where not exists (
        select 1 from json_to_recordset(full_) as f(channel text, tenant text) where f.channel = s.channel and f.tenant = s.tenant
      )
    ), turns as materialized (
      select v.*, count(*) over (partition by v.channel, v.priority) as among,
        row_number() over (partition by v.channel, v.priority order by v.place) as turn
      from visited v where v.place <= 32 and v.first_at <= at
    ), shares as materialized (
      select t.channel, t.priority, t.tenant, t.first_at, t.amount / t.among + case when t.turn <= t.amount % t.among then 1 else 0 end as amount
      from turns t
      where t.is_shared or t.among > 1
        or exists (select 1 from oldest o where o.channel = t.channel and o.priority = t.priority and o.tenant <> t.tenant)
    ), mine as materialized (
      select own.* from shares s cross join lateral (
        select d.*, false as is_rest, row_number() over () as number from (
          select d.* from "sallyport_jobs" as d
          where d.channel = s.channel and d.priority = s.priority and (d.tenant, d.wake_at) >= (s.tenant, s.first_at) and (d.tenant, d.wake_at) <= (s.tenant, at) and (d.concurrency_key is null or (
          (d.channel, d.concurrency_key) not in (select b.channel, b.concurrency_key from json_to_recordset(busy) as b(channel text, concurrency_key text, tenant text) where b.tenant is null)
          and (d.channel, d.tenant, d.concurrency_key) not in (
            select b.channel, b.tenant, b.concurrency_key from json_to_recordset(busy) as b(channel text, concurrency_key text, tenant text) where b.tenant is not null
          )
        ))
          order by d.tenant, d.wake_at limit s.amount for update skip locked
        ) d
      ) own
    ), due as materialized (
      select x."delivery_id", x."dispatch_id", x."tenant", x."channel", x."priority", x."concurrency_key", x."wake_at", x."waits_for", x."expires_at", x."fence", x."attempt", x."begun", x."version" from asked a cross join lateral (
        select c.* from (
          select m.* from mine m where m.channel = a.channel
          union all
          select o.*, true, o.wake_at from oldest o
          where o.channel = a.channel and o.delivery_id not in (select m.delivery_id from mine m)
        ) c
        order by c.priority, c.is_rest, c.number limit a.amount
      ) x
    ), leased as (
      update "sallyport_jobs" as d set wake_at = at + lease_ms, waits_for = null, fence = mark, version = d.version + 1,
    begun = case when d.expires_at > at then d.begun || '{"attempt":' || (d.attempt + 1) || ',"startedAt":' || at || '},' else d.begun end,
    attempt = case when d.expires_at > at then d.attempt + 1 else d.attempt end
      where d.delivery_id = any (array(select x.delivery_id from due x)) returning 1
    )
    select null::text, due."delivery_id" as "delivery_id", due."dispatch_id" as "dispatch_id", due."tenant" as "tenant", due."channel" as "channel", due."priority" as "priority", due."concurrency_key" as "concurrency_key", due."wake_at" as "wake_at", due."waits_for" as "waits_for", due."expires_at" as "expires_at", due."fence" as "fence", due."attempt" as "attempt", due."begun" as "begun", due."version" as "version", h."dispatch_id" as "h_dispatch_id", h."tenant" as "h_tenant", h."made_by" as "h_made_by", h."event_type" as "h_event_type", h."recipient" as "h_recipient", h."recipient_key" as "h_recipient_key", h."session_id" as "h_session_id", h."route" as "h_route", h."critical" as "h_critical", h."priority" as "h_priority", h."sandboxed" as "h_sandboxed", h."locale" as "h_locale", h."created_at" as "h_created_at", h."version" as "h_version", s."dispatch_id" as "s_dispatch_id", s."version" as "s_version", s."outcomes" as "s_outcomes", s."body" as "s_body", c."delivery_id" as "c_delivery_id", c."dispatch_id" as "c_dispatch_id", c."body" as "c_body", c."version" as "c_version"
    from due cross join lateral (
      select * from "sallyport_dispatches" h where h.dispatch_id = due.dispatch_id offset 0
    ) h cross join lateral (
      select * from "sallyport_states" s where s.dispatch_id = due.dispatch_id offset 0
    ) s left join lateral (
      select * from "sallyport_contents" c where c.delivery_id = due.delivery_id offset 0
    ) c on true
    union all
    select found.*, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null from (
      select json_agg(json_build_object('channel', s.channel, 'priority', s.priority, 'number', s.number, 'isKnown', s.known = 1, 'tenant', s.tenant,
        'firstAt', s.first_at))::text as found
      from seen s
    ) found where found.found is not null;

    summary := json_build_object(
      'now', at,
      'queues', (
        select json_agg(json_build_object('channel', a.channel, 'priority', q.priority, 'first', first_.wake_at,
          'next', case when a.is_shared then null when json_array_length(busy) > 0 then next_.wake_at else first_.wake_at end))
        from json_to_recordset(channels) as a(channel text, amount bigint, urgent_since bigint, since bigint, is_shared boolean)
        cross join lateral (values (0, a.urgent_since), (1, a.since)) as q(priority, since)
        left join lateral (
        select d.wake_at from "sallyport_jobs" d
        where d.channel = a.channel and d.priority = q.priority and d.wake_at >= q.since 
        order by d.wake_at limit 1
      ) first_ on true
        left join lateral (
        select d.wake_at from "sallyport_jobs" d
        where d.channel = a.channel and d.priority = q.priority and d.wake_at >= first_.wake_at and json_array_length(busy) > 0 and not a.is_shared and (d.concurrency_key is null or (
          (d.channel, d.concurrency_key) not in (select b.channel, b.concurrency_key from json_to_recordset(busy) as b(channel text, concurrency_key text, tenant text) where b.tenant is null)
          and (d.channel, d.tenant, d.concurrency_key) not in (
            select b.channel, b.tenant, b.concurrency_key from json_to_recordset(busy) as b(channel text, concurrency_key text, tenant text) where b.tenant is not null
          )
        ))
        order by d.wake_at limit 1
      ) next_ on true
      )
    );
    return next;
  end $body$;

create or replace function "sallyport_snapshots_1"(keys json) returns table (kind text, tenant text, session_id text, run_id text, state text, derived text, created_at bigint, updated_at bigint, last_seen_at bigint, revision bigint, version bigint) language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan as $body$
  #variable_conflict use_column
  begin
    return query with recursive k as (select x.tenant, x.session_id, x.run_id, x.parent_run_id from json_to_recordset(keys::json) as x(tenant text, session_id text, run_id text, parent_run_id text)),
    c (tenant, session_id, run_id, next_id, depth) as (
      select k.tenant, k.session_id, coalesce(r.run_id, k.run_id),
        case when r.top is null then coalesce(r.parent_run_id, k.parent_run_id) else k.parent_run_id end, 0
      from k left join lateral (select * from "sallyport_runs" r where (r.run_id, r.session_id, r.tenant) >= (k.run_id, k.session_id, k.tenant) and (r.run_id, r.session_id, r.tenant) <= (k.run_id, k.session_id, k.tenant) offset 0) r on true
      union all
      select r.tenant, r.session_id, r.run_id, coalesce(k.parent_run_id, r.parent_run_id), 0
      from k cross join lateral (select * from "sallyport_runs" r where (r.run_id, r.session_id, r.tenant) >= (k.run_id, k.session_id, k.tenant) and (r.run_id, r.session_id, r.tenant) <= (k.run_id, k.session_id, k.tenant) offset 0) r
      where r.top is null and r.parent_run_id <> k.parent_run_id
      union all
      select c.tenant, c.session_id, c.next_id, case when r.top is null then r.parent_run_id end, c.depth + 1
      from c left join lateral (select * from "sallyport_runs" r where (r.run_id, r.session_id, r.tenant) >= (c.next_id, c.session_id, c.tenant) and (r.run_id, r.session_id, r.tenant) <= (c.next_id, c.session_id, c.tenant) offset 0) r on true
      where c.next_id is not null and c.depth < 32
    ),
    n as (select distinct tenant, session_id, run_id from c)
    select 'run' as kind, r.tenant, r.session_id, r.run_id, r.state, r.derived, r.created_at, r.updated_at, r.last_seen_at,
      r.revision, r.version
    from n cross join lateral (select * from "sallyport_runs" r where (r.run_id, r.session_id, r.tenant) >= (n.run_id, n.session_id, n.tenant) and (r.run_id, r.session_id, r.tenant) <= (n.run_id, n.session_id, n.tenant) offset 0) r
    union all
    select 'sum', s.tenant, s.session_id, s.run_id, s.totals, '', 0, 0, 0, 0, s.version
    from n cross join lateral (select * from "sallyport_run_sums" s where s.tenant = n.tenant and s.session_id = n.session_id and s.run_id = n.run_id offset 0) s
    union all
    select 'session', s.tenant, s.session_id, '', s.totals, s.failures, s.created_at, s.updated_at, 0, 0, s.version
    from (select distinct tenant, session_id from k) d cross join lateral (select * from "sallyport_sessions" s where s.tenant = d.tenant and s.session_id = d.session_id offset 0) s;
  end $body$;

create or replace function "sallyport_records_1"(of_kind text, of_column text, given json) returns table ("kind" text, "tenant" text, "key" text, "a" text, "b" text, "c" text, "d" text, "expires_at" bigint, "body" text, "version" bigint) language plpgsql stable set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan as $body$
  begin
    case of_column
      when 'key' then return query select f."kind" as "kind", f."tenant" as "tenant", f."key" as "key", f."a" as "a", f."b" as "b", f."c" as "c", f."d" as "d", f."expires_at" as "expires_at", f."body" as "body", f."version" as "version" from json_to_recordset(given::json) as x(tenant text, text text) cross join lateral (select * from "sallyport_plugin_records" f where f.kind = of_kind and f.tenant = x.tenant and f.key = x.text offset 0) f;
      when 'a' then return query select f."kind" as "kind", f."tenant" as "tenant", f."key" as "key", f."a" as "a", f."b" as "b", f."c" as "c", f."d" as "d", f."expires_at" as "expires_at", f."body" as "body", f."version" as "version" from json_to_recordset(given::json) as x(tenant text, text text) cross join lateral (select * from "sallyport_plugin_records" f where f.kind = of_kind and f.tenant = x.tenant and f.a >= x.text and f.a <= x.text order by f.a offset 0) f;
      when 'b' then return query select f."kind" as "kind", f."tenant" as "tenant", f."key" as "key", f."a" as "a", f."b" as "b", f."c" as "c", f."d" as "d", f."expires_at" as "expires_at", f."body" as "body", f."version" as "version" from json_to_recordset(given::json) as x(tenant text, text text) cross join lateral (select * from "sallyport_plugin_records" f where f.kind = of_kind and f.tenant = x.tenant and f.b >= x.text and f.b <= x.text order by f.b offset 0) f;
      when 'c' then return query select f."kind" as "kind", f."tenant" as "tenant", f."key" as "key", f."a" as "a", f."b" as "b", f."c" as "c", f."d" as "d", f."expires_at" as "expires_at", f."body" as "body", f."version" as "version" from json_to_recordset(given::json) as x(tenant text, text text) cross join lateral (select * from "sallyport_plugin_records" f where f.kind = of_kind and f.tenant = x.tenant and f.c >= x.text and f.c <= x.text order by f.c offset 0) f;
      when 'd' then return query select f."kind" as "kind", f."tenant" as "tenant", f."key" as "key", f."a" as "a", f."b" as "b", f."c" as "c", f."d" as "d", f."expires_at" as "expires_at", f."body" as "body", f."version" as "version" from json_to_recordset(given::json) as x(tenant text, text text) cross join lateral (select * from "sallyport_plugin_records" f where f.kind = of_kind and f.tenant = x.tenant and f.d >= x.text and f.d <= x.text order by f.d offset 0) f;
    end case;
  end $body$;

create or replace function "sallyport_scan_1"(statement text, given json) returns table (found json) language plpgsql set enable_seqscan = off set enable_bitmapscan = off set enable_hashjoin = off set enable_mergejoin = off set enable_sort = off set jit = off set plan_cache_mode = force_generic_plan as $body$
  begin
    return query execute 'select to_json(q) from (' || statement || ') q' using given;
  end $body$;
