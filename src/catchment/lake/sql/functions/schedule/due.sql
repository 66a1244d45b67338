-- due: tables whose turn it is. Turns are the multiples of a table's period, counted from the same moment for all; a
-- turn in which the table was tried, or got its data in another way, is over. Missed turns are not made up for.
create or replace function lake.due(p_now timestamptz)
  returns setof bigint
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select d.id
    from lake.dt as d
    join lake.frontier as f on f.dt_id = d.id
    join lake.effective_lag as e on e.dt_id = d.id
   cross join lateral (select lake.period(e.lag, e.chain_ms) as seconds) as p
   where d.state = 'active'
     and d.scheduler
     and e.lag is not null
     and coalesce(floor(extract(epoch from p_now)::double precision / p.seconds)
                  > floor(extract(epoch from greatest(f.data_at, d.last_attempt_at))::double precision / p.seconds),
                  true)
$$;
