-- hold_meters: take the meters of those of these queues that are limited, all queues if null, in one order, whatever
-- the order of the queues: two claims that name them the other way round would else wait for each other.
--
--   locks   meter rows by name of the queue
create or replace function worker.hold_meters(p_queues text[])
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  insert into worker.queue_meter (queue_id, tokens, refilled_at)
  select q.queue_id, coalesce(q.rate, 0), worker.now()
    from worker.queue_registry as q
   where (p_queues is null or q.queue = any (p_queues))
     and (q.max_running is not null or q.rate is not null)
   order by q.queue
  -- which locks the row and leaves it as it is
  on conflict (queue_id) do update set tokens = excluded.tokens where false;
$$;
