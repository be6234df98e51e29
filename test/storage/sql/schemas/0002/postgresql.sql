alter table "sallyport_dispatches" add column if not exists "plugins" text;

insert into "sallyport_migrations" (name, migrated_at) values ('0002_plugins', floor(extract(epoch from statement_timestamp()) * 1000)::bigint);
