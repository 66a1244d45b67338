-- lag_stats: the age of a table's data between a time and now. When a refresh becomes visible, the lag is the age of
-- its data; it grows until the next one becomes visible. It starts with the first refresh.
--
--   returns mean and largest lag, the share of the time within its lag (null without one), the time looked at, and the
--           refreshes in it
create or replace function lake.lag_stats(
  p_dt_id  bigint,
  p_since  timestamptz
)
  returns table (mean_lag interval, max_lag interval, within_target double precision, looked_at interval,
                 refreshes bigint)
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  with now as materialized (
    select worker.now() as at
  ), target as (
    select extract(epoch from e.lag)::double precision as seconds from lake.effective_lag as e where e.dt_id = p_dt_id
  ), succeeded as (
    select coalesce(r.published_at, r.finished_at) as from_at, o.data_at
      from lake.refresh as r
      join lake.round as o on o.id = r.round_id
     where r.dt_id = p_dt_id
       and r.state = 'SUCCEEDED'
     union all
    select u.from_at, u.data_at
      from lake.idle as i
     cross join lateral unnest(i.seen_at, i.data_at) as u (from_at, data_at)
     where i.dt_id = p_dt_id
  ), visible as (
    select s.from_at, s.data_at, lead(s.from_at) over (order by s.from_at, s.data_at) as to_at
      from succeeded as s
  ), piece as (
    -- Times after now, and data from after they were seen, were written before the clock was set back.
    select greatest(0, extract(epoch from greatest(v.from_at, p_since) - v.data_at)::double precision) as youngest,
           greatest(0, extract(epoch from least(v.to_at, n.at) - v.data_at)::double precision) as oldest
      from visible as v
     cross join now as n
     where least(v.to_at, n.at) > greatest(v.from_at, p_since)
  )
  select make_interval(secs => sum((p.oldest - p.youngest) * (p.oldest + p.youngest) / 2)
                               / nullif(sum(p.oldest - p.youngest), 0)),
         make_interval(secs => max(p.oldest)),
         sum(greatest(0, least(p.oldest, (select t.seconds from target as t)) - p.youngest))
         / nullif(sum(p.oldest - p.youngest), 0)
           * case when (select t.seconds from target as t) is not null then 1 end,
         make_interval(secs => coalesce(sum(p.oldest - p.youngest), 0)),
         (select count(*) from visible as v where v.from_at >= p_since)
    from piece as p
$$;
