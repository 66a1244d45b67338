-- is_served: whether a worker runs that serves a queue.
create or replace function register.is_served(p_queue text)
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (select from worker.worker as w where p_queue = any (w.queues) and w.lease_until > worker.now());
$$;
