-- queue_limits: queues that have a limit, with the attempts that run now and the starts that the rate still allows.
create or replace function worker.queue_limits()
  returns table (queue text, max_running integer, running bigint, rate integer, rate_seconds float8, tokens float8)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select q.queue, q.max_running,
         (select count(*)
            from (select from worker.running as r where r.queue_id = q.queue_id
                   limit coalesce(q.max_running, 10000)) as x),
         q.rate, extract(epoch from q.rate_per)::float8,
         worker.refilled(coalesce(m.tokens, q.rate), coalesce(m.refilled_at, worker.now()), worker.now(), q.rate,
                         q.rate_per)
    from worker.queue_registry as q
    left join worker.queue_meter as m on m.queue_id = q.queue_id
   where q.max_running is not null or q.rate is not null
   order by q.queue
   limit 200;
$$;
