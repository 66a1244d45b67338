-- queue_limits: queues that have a limit, with the attempts that run now, the starts that the rate still allows, and
-- the ready tasks that the limit holds, counted up to 1000; next_at is when the rate allows the next start.
create or replace function worker.queue_limits()
  returns table (queue text, max_running integer, running bigint, rate integer, rate_seconds float8, tokens float8,
                 waiting bigint, next_at timestamptz)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select q.queue, q.max_running, s.running, q.rate, s.rate_seconds, s.tokens,
         greatest(s.ready - worker.queue_allowance(q), 0),
         case when s.ready > 0 and s.tokens < 1
           then worker.now() + q.rate_per / q.rate * greatest(1 - s.tokens, 0.001) end
    from worker.queue_registry as q
    left join worker.queue_meter as m on m.queue_id = q.queue_id
   cross join lateral (
     select (select count(*)
               from (select from worker.running as r where r.queue_id = q.queue_id
                      limit coalesce(q.max_running, 10000)) as x) as running,
            (select count(*) from (select from worker.ready as r where r.queue_id = q.queue_id limit 1000) as x)
              as ready,
            extract(epoch from q.rate_per)::float8 as rate_seconds,
            worker.refilled(coalesce(m.tokens, q.rate), coalesce(m.refilled_at, worker.now()), worker.now(), q.rate,
                            q.rate_per) as tokens
   ) as s
   where q.max_running is not null or q.rate is not null
   order by q.queue
   limit 200;
$$;
