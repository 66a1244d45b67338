-- hold_meters: where several of these queues are limited, take their meters in one order, whatever the order of the queues: two
-- claims that name them the other way round would else wait for each other. A single meter is left to take_allowance.
--
--   locks   meter rows by name of the queue
create or replace function worker.hold_meters(p_queues text[])
  returns void
  language sql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
  insert into worker.queue_meter (queue_id, tokens, refilled_at)
  select l.queue_id, l.tokens, worker.now()
    from (select q.queue_id, coalesce(q.rate, 0) as tokens, q.queue, count(*) over () as n
            from worker.queue_registry as q
           where q.queue = any (p_queues)
             and (q.max_running is not null or q.rate is not null)) as l
   where l.n > 1
   order by l.queue
  on conflict (queue_id) do update set tokens = excluded.tokens where false; -- which locks the row and leaves it as it is
$$;
