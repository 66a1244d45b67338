-- former_session: the session that proves a worker's life, if it is another than this one.
create or replace function worker.former_session(p_worker_id bigint)
  returns integer
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select h.pid
    from worker.worker as w
   cross join lateral worker.lock_holders(array[w.lock_key]) as h
   where w.worker_id = p_worker_id
     and h.pid = w.lock_pid
     and h.pid <> pg_backend_pid();
$$;
