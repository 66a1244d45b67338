-- hasten: request a tick now if a closed round has taken so much of the lag of a table that the table would be late by
-- the next tick. Not for a round that took less than a quarter of the lag: the tick itself comes about that often.
create or replace function lake.hasten(p_rounds bigint[])
  returns void
  language sql set search_path = pg_catalog, pg_temp
as $$
  select worker.enqueue('lake_tick', '{}')
   where exists (select
                   from lake.round as o
                   join lake.refresh as r on r.round_id = o.id
                   join lake.dt as d on d.id = r.dt_id
                  cross join lateral (select worker.now() - o.data_at as age) as a
                  where o.id = any (p_rounds)
                    and o.trigger = 'scheduled'
                    and r.task_id is not null
                    and d.state = 'active'
                    and d.target_lag <= 4 * a.age
                    and d.target_lag < 2 * a.age + interval '1.5 seconds')
$$;
