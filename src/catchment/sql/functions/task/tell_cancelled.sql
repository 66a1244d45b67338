-- tell_cancelled: notify the worker processes that run these tasks of the cancellation. Sessions that run SQL handlers
-- are signalled by upkeep instead.
create or replace function worker.tell_cancelled(p_ids bigint[])
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  select worker.notify('worker_cancels', w.worker_id::text)
    from (select distinct r.worker_id
            from worker.running as r
           where r.id = any (p_ids)
             and r.backend_key is null
             and r.cancel_reason is not null) as w;
$$;
