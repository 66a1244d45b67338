-- due: tables that are due. Turns are the multiples of a table's period, counted from the same moment for all; a turn
-- in which the table was tried, or got its data in another way, is over. Missed turns are not made up for. It is also
-- the turn of a table that would be older than its lag if it waited for the tick after the next one: its refresh, and
-- those of what it reads, take as long as they are expected to.
--
-- A time after p_now was written before the clock was set back, and says nothing.
create or replace function lake.due(p_now timestamptz)
  returns setof bigint
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select d.id
    from lake.dt as d
    join lake.frontier as f on f.dt_id = d.id
    join lake.effective_lag as e on e.dt_id = d.id
   cross join lateral (select lake.period(e.lag, e.chain_ms) as seconds,
                              greatest(case when f.data_at <= p_now then f.data_at end,
                                       case when d.last_attempt_at <= p_now then d.last_attempt_at end)
                                as tried_at) as p
   where d.state = 'active'
     and d.scheduler
     and e.lag is not null
     and coalesce(floor(extract(epoch from p_now)::double precision / p.seconds)
                  > floor(extract(epoch from p.tried_at)::double precision / p.seconds)
                  or extract(epoch from p.tried_at + e.lag - p_now)::double precision < 1.5 + e.chain_ms / 1000,
                  true)
$$;
