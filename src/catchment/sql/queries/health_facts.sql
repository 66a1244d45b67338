-- health_facts: versions, migrations and the room of the server.
select current_setting('server_version') as postgres, pg_postmaster_start_time() as postgres_started_at,
       pg_database_size(current_database()) as database_bytes,
       (select count(*) from pg_stat_activity as a where a.backend_type = 'client backend') as connections,
       current_setting('max_connections')::integer as max_connections,
       pg_notification_queue_usage() as notification_usage,
       (select min(a.xact_start) from pg_stat_activity as a
         where a.backend_xmin is not null and a.pid <> pg_backend_pid()) as oldest_snapshot_at,
       (select v.release from worker.version as v) as schema_release,
       (select jsonb_agg(jsonb_build_object('number', m.number, 'name', m.name, 'applied_at', m.applied_at)
                         order by m.number)
          from worker.migration as m) as migrations,
       (select coalesce(jsonb_agg(jsonb_build_object('version', w.version, 'workers', w.n) order by w.version), '[]')
          from (select coalesce(x.version, 'unknown') as version, count(*) as n
                  from worker.worker as x
                 group by 1) as w) as worker_versions
