-- hanging_backends: backends that still run SQL tasks of dead worker processes, identified by the lock each holds, not
-- by its name.
--
--   plan    indexed
create or replace function worker.hanging_backends(p_dead bigint[])
  returns setof integer
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select h.pid
    from worker.running as r
   cross join lateral worker.lock_holders(array[r.backend_key]) as h
   where r.backend_key is not null
     and r.worker_id = any (p_dead)
     and h.pid = r.worker_pid
     and h.pid <> pg_backend_pid();
$$;
