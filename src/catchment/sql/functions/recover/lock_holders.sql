-- lock_holders: which backend holds each of these advisory locks in this database.
create or replace function worker.lock_holders(p_keys bigint[])
  returns table (key bigint, pid integer)
  language sql volatile set search_path = pg_catalog, pg_temp
as $$
  select k.key, l.pid
    from unnest(p_keys) as k (key)
    join pg_locks as l
      on l.locktype = 'advisory'
     and l.granted
     and l.objsubid = 1
     and l.database = (select d.oid from pg_database as d where d.datname = current_database())
     and l.classid::bigint = ((k.key >> 32) & 4294967295)
     and l.objid::bigint = (k.key & 4294967295);
$$;
