alter table "sallyport_dispatches" add column "plugins" text;

insert into "sallyport_migrations" (name, migrated_at) values ('0002_plugins', cast(round((julianday('now') - 2440587.5) * 86400000) as integer));
