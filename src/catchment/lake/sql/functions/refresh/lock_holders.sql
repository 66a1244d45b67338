-- lock_holders: the sessions that hold the commit lock of the lake. is_publishing: it is ours, for a refresh that it
-- may still publish. is_stale: it is ours, for a refresh that is no longer its own, or whose attempt was interrupted:
-- the process was taken for dead and still has its connections. A newer attempt may need the worker that waits for this
-- lock. who and idle_since as far as the owner of this function may see them: of sessions of other users the name of
-- the program is all.
create or replace function lake.lock_holders()
  returns table (pid integer, who text, idle_since timestamptz, is_publishing boolean, is_stale boolean)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select a.pid,
         concat_ws(', ', 'user ' || a.usename, nullif(a.application_name, ''), 'from ' || host(a.client_addr)),
         case when a.state like 'idle%' then a.state_change end,
         m.ids is not null and not s.is_stale,
         m.ids is not null and s.is_stale
    from pg_locks as l
    join pg_stat_activity as a on a.pid = l.pid
    left join lateral regexp_match(a.application_name, '^catchment commit lock ([0-9]+)/([0-9]+)$') as m (ids) on true
    left join lake.refresh as r on r.id = (m.ids)[1]::bigint
   cross join lateral (
     select r.id is null
         or r.fence > (m.ids)[2]::bigint
         or r.finished_at is not null
         or exists (select from worker.running as x where x.id = r.task_id and x.fence > (m.ids)[2]::bigint)
         or exists (select from worker.ready as t where t.id = r.task_id and t.rank = 0)
         or exists (select from worker.blocked as b where b.id = r.task_id and b.rank = 0)
   ) as s (is_stale)
   where l.locktype = 'advisory'
     and l.granted
     and l.database = (select d.oid from pg_database as d where d.datname = current_database())
     and ((l.classid::bigint << 32) | l.objid::bigint) = lake.commit_key()
     and l.objsubid = 1
$$;
