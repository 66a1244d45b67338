-- take_top: give a worker the top level of these serial queues: all of them, or none. A queue is free when no worker
-- has it, or when the worker that has it is dead.
--
--   returns the first queue that another live worker has; null when all are taken now
--   locks   top rows by queue; worker rows that are free
create or replace function worker.take_top(
  p_worker_id  bigint,
  p_queues     text[]
)
  returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_queues integer[] := array(select q.queue_id from worker.queue_registry as q where q.queue = any (p_queues)
                               order by 1);
  v_busy   text;
begin
  -- Workers that stand by call this again and again: check first, without a lock.
  v_busy := worker.top_taken(p_worker_id, v_queues);
  if v_busy is not null then
    return v_busy;
  end if;
  insert into worker.top (queue_id) select q from unnest(v_queues) as q order by q on conflict do nothing;
  perform t.queue_id from worker.top as t where t.queue_id = any (v_queues) order by t.queue_id for update;
  v_busy := worker.top_taken(p_worker_id, v_queues);
  if v_busy is null then
    update worker.top as t
       set worker_id = p_worker_id,
           taken_at  = worker.now()
     where t.queue_id = any (v_queues)
       and t.worker_id is distinct from p_worker_id;
  end if;
  return v_busy;
end;
$$;
