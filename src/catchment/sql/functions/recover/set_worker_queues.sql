-- set_worker_queues: change the queues or the capacity of a worker process. A worker that serves all queues calls it
-- when it discovers a new queue.
create or replace function worker.set_worker_queues(
  p_worker_id     bigint,
  p_queues        text[],
  p_max_capacity  integer default null
)
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  update worker.worker as w
     set queues       = p_queues,
         max_capacity = coalesce(p_max_capacity, w.max_capacity)
   where w.worker_id = p_worker_id;
$$;
