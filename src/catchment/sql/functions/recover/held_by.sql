-- held_by: the attempts that belong to a worker process, so that it can drop what is no longer its own, give back what it never
-- heard of, and stop what is cancelled.
create or replace function worker.held_by(p_worker_id bigint)
  returns table (id bigint, fence bigint, cancel_reason text)
  language sql
  stable
  security definer
  set search_path = pg_catalog, pg_temp
as $$
  select r.id, r.fence, r.cancel_reason
    from worker.running as r
   where r.worker_id = p_worker_id
     and r.backend_key is null;
$$;
