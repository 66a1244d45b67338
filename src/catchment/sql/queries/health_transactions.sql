-- health_transactions: the oldest open transactions of this database, and whether they hold a snapshot.
select a.pid, a.usename::text as login, nullif(a.application_name, '') as application, a.state, a.xact_start as since,
       a.backend_xmin is not null as has_snapshot, case when a.state = 'active' then a.wait_event_type end as waits_for
  from pg_stat_activity as a
 where a.datname = current_database()
   and a.pid <> pg_backend_pid()
   and a.xact_start < clock_timestamp() - interval '5 seconds'
 order by a.xact_start
 limit 10
