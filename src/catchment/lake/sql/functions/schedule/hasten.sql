-- hasten: rounds have closed. If one of them has taken so much of the lag of a table that the table would be late by
-- the next tick, the tick is asked for now. Not for a round that took less than a quarter of the lag: the tick itself
-- comes about that often.
create or replace function lake.hasten(p_rounds bigint[])
  returns void
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := worker.now();
begin
  if exists (select
               from lake.round as o
               join lake.refresh as r on r.round_id = o.id
               join lake.dt as d on d.id = r.dt_id
              where o.id = any (p_rounds)
                and o.trigger = 'scheduled'
                and r.task_id is not null
                and d.state = 'active'
                and d.target_lag <= 4 * (v_now - o.data_at)
                and d.target_lag < 2 * (v_now - o.data_at) + interval '1.5 seconds') then
    perform worker.enqueue('lake_tick', '{}');
  end if;
end;
$$;
