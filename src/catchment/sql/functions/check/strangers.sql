-- strangers: sessions that hold an advisory lock of the engine that belongs to another session. They block nothing, but
-- a worker whose lock is taken depends on its lease alone.
create or replace function worker.strangers()
  returns table (pid integer, usename text, application_name text, lock text)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with known as (
    select w.lock_key as key, w.lock_pid as pid, 'of worker ' || w.worker_id as lock
      from worker.worker as w
     where w.lock_key is not null
    union all
    select r.backend_key, r.worker_pid, 'of the session that runs task ' || r.id
      from worker.running as r
     where r.backend_key is not null
  )
  select h.pid, a.usename::text, a.application_name, k.lock
    from known as k
   cross join lateral worker.lock_holders(array[k.key]) as h
    left join pg_stat_activity as a on a.pid = h.pid
   where h.pid is distinct from k.pid;
$$;
