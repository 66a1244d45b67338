-- leave_top: workers that end, or have died, no longer run the top level of any queue.
--
--   locks   their top rows by queue
create or replace function worker.leave_top(p_worker_ids bigint[])
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  update worker.top as t
     set worker_id = null
   where t.ctid = any (array(select x.ctid from worker.top as x where x.worker_id = any (p_worker_ids)
                              order by x.queue_id
                                for update));
$$;
