-- leave_top: workers that end, or have died, no longer run the top level of any queue; one that is paused leaves
-- p_queue. Workers that stand by are notified.
--
--   locks   their top rows by queue
create or replace function worker.leave_top(
  p_worker_ids  bigint[],
  p_queue       text default null
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_free integer[];
begin
  with free as (
    update worker.top as t
       set worker_id = null
     where t.ctid = any (array(select x.ctid from worker.top as x where x.worker_id = any (p_worker_ids)
                                  and (p_queue is null
                                       or x.queue_id = (select q.queue_id
                                                          from worker.queue_registry as q
                                                         where q.queue = p_queue))
                                order by x.queue_id
                                  for update))
    returning t.queue_id
  )
  select array_agg(f.queue_id) into v_free from free as f;
  perform worker.notify('worker_cancels', 'top ' || q.queue)
     from worker.queue_registry as q
    where q.queue_id = any (v_free);
end;
$$;
