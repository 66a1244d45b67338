-- stale_holders: sessions that hold the commit lock for a refresh that is no longer theirs. Their process was taken for
-- dead and still has its connections: it is stopped, or cut off. What it may yet send is refused, so the lock protects
-- nothing.
create or replace function lake.stale_holders()
  returns setof integer
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select a.pid
    from pg_locks as l
    join pg_stat_activity as a on a.pid = l.pid
    join lateral regexp_match(a.application_name, '^catchment commit lock ([0-9]+)/([0-9]+)$') as m (ids)
      on m.ids is not null
    left join lake.refresh as r on r.id = (m.ids)[1]::bigint
   where l.locktype = 'advisory'
     and l.granted
     and l.database = (select d.oid from pg_database as d where d.datname = current_database())
     and ((l.classid::bigint << 32) | l.objid::bigint) = lake.commit_key()
     and l.objsubid = 1
     and (r.id is null or r.fence > (m.ids)[2]::bigint or r.finished_at is not null)
$$;
