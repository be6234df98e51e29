alter table `sallyport_dispatches` add column if not exists `plugins` longtext;

insert into `sallyport_migrations` (name, migrated_at) values ('0002_plugins', (timestampdiff(microsecond, '1970-01-01', utc_timestamp(3)) div 1000));
