-- sum_moments: the scratch table moment_part becomes moment_sum and count_sum: per key what is added (sign +1) and what
-- is removed (sign -1), variables in the order of their ids, so that equal sums are equal arrays. For few large groups;
-- see add_moments.
--
--   reads   pg_temp.moment_part
--   writes  pg_temp.count_sum, pg_temp.moment_sum
--   plan    no_jit, unmerged, memory_128
create or replace function register.sum_moments()
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  delete from pg_temp.moment_sum;
  with part as materialized (
    select p.facet_key, p.period_key, p.sign, m.stat_definition_id, m.n, m.total, m.squares,
           m.min, coalesce(m.min_count, 1) as min_count, m.max, coalesce(m.max_count, 1) as max_count
      from pg_temp.moment_part as p
     cross join lateral unnest(p.moments) as m
  ),
  total as (
    select p.facet_key, p.period_key, p.sign, p.stat_definition_id, sum(p.n)::bigint as n, sum(p.total) as total,
           sum(p.squares) as squares, min(p.min) as min, max(p.max) as max
      from part as p
     group by p.facet_key, p.period_key, p.sign, p.stat_definition_id
  ),
  held as (
    select t.facet_key, t.period_key, t.sign, t.stat_definition_id,
           case when min(p.min_count) filter (where p.min = t.min) = 0 then 0
                else sum(p.min_count) filter (where p.min = t.min) end::bigint as min_count,
           case when min(p.max_count) filter (where p.max = t.max) = 0 then 0
                else sum(p.max_count) filter (where p.max = t.max) end::bigint as max_count
      from total as t
      join part as p using (facet_key, period_key, sign, stat_definition_id)
     where p.min = t.min
        or p.max = t.max
     group by t.facet_key, t.period_key, t.sign, t.stat_definition_id
  )
  insert into pg_temp.moment_sum (facet_key, period_key, added, removed)
  select s.facet_key, s.period_key,
         array_agg(s.moment order by s.stat_definition_id) filter (where s.sign = 1),
         array_agg(s.moment order by s.stat_definition_id) filter (where s.sign = -1)
    from (
      select t.facet_key, t.period_key, t.sign, t.stat_definition_id,
             row(t.stat_definition_id, t.n, t.total, t.squares, t.min, h.min_count, t.max,
                 h.max_count)::register.moment as moment
        from total as t
        join held as h using (facet_key, period_key, sign, stat_definition_id)
    ) as s
   group by s.facet_key, s.period_key;

  delete from pg_temp.count_sum;
  insert into pg_temp.count_sum (facet_key, period_key, added, removed)
  select p.facet_key, p.period_key, register.total_counts(p.value_counts) filter (where p.sign = 1),
         register.total_counts(p.value_counts) filter (where p.sign = -1)
    from pg_temp.moment_part as p
   where p.value_counts is not null
   group by p.facet_key, p.period_key;
end;
$$;
