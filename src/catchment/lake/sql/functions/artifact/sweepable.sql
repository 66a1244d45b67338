-- sweepable: files of refreshes that are over, of one or of all. is_registered: the lake has it now, and it stays.
-- is_final: nobody can write it any more. An attempt that was interrupted may still run for a moment, in a process that
-- was taken for dead; its files are looked for again after p_grace. The directory of a table is final when nobody is
-- about to commit to that table either, the folder of a load when no session holds its lock.
create or replace function lake.sweepable(
  p_refresh_id  bigint,
  p_grace       interval
)
  returns table (path text, kind text, is_registered boolean, is_final boolean, fence bigint)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select a.path, a.kind,
         a.kind = 'data' and (a.path in (select f.path from lake.ducklake_data_file as f)
                              -- Below the table's directory files are named by the last folder on; names hold the
                              -- refresh.
                              or regexp_replace(a.path, '^.*/([^/]+/[^/]+)$',
                                                '\1') in (select f.path from lake.ducklake_data_file as f)),
         not (a.kind = 'load' and exists (select
                                            from pg_locks as l
                                           where l.locktype = 'advisory'
                                             and l.database = (select d.oid from pg_database as d
                                                                where d.datname = current_database())
                                             and ((l.classid::bigint << 32) | l.objid::bigint) = lake.load_key(a.path)
                                             and l.objsubid = 1))
         and not exists (select from worker.running as h where h.id = a.task_id)
         and (a.made_at <= worker.now() - p_grace
              or not exists (select from worker.attempt as n where n.task_id = a.task_id and n.state = 'interrupted'))
         and (a.kind <> 'table'
              or not exists (select
                               from lake.refresh as r
                               join lake.dt as d on d.id = r.dt_id
                              where r.finished_at is null
                                and r.state = 'PUBLISHING'
                                and lake.table_directory(d.physical_id) = a.path)),
         a.fence
    from lake.artifact as a
   where (p_refresh_id is null or a.refresh_id = p_refresh_id)
     and not exists (select from lake.refresh as r where r.id = a.refresh_id and r.finished_at is null)
   order by a.path
$$;
