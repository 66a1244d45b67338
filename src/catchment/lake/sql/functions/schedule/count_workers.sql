-- count_workers: live workers that run refreshes, whatever else they serve.
create or replace function lake.count_workers()
  returns integer
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select count(*)::integer
    from worker.worker as w
   where w.lease_until > worker.now()
     and 'lake' = any (w.python_queues)
$$;
