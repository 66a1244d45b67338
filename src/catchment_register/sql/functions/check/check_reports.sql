-- check_reports: published reports against published units, and against each other. While a round is open, reports are
-- behind units: then nothing is compared.
--
--   plan    no_jit, memory_128
create or replace function register.check_reports()
  returns table (rule text, detail text)
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with settled as (
    select from register.report_state as s
     where not exists (select from register.round as r where r.state = 'open')
       and not exists (select from register.statistical_unit_change as c where c.flush_id > s.applied_flush_id)
    having bool_and(s.applied_flush_id is not null)
       and count(*) = 3
  ),
  -- A row is in stock from the later of its beginning and the birth to before the earlier of its end and the death.
  stock as materialized (
    select x.unit_type, x.used_for_counting, greatest(x.valid_from, x.birth_date) as first_day,
           least(x.valid_until, x.death_date) as end_day
      from register.statistical_unit_row as x
     where exists (select from settled)
       and greatest(x.valid_from, x.birth_date) < least(x.valid_until, x.death_date)
  ),
  moved as materialized (
    select s.unit_type, s.first_day as day, count(*) as change, count(*) filter (where s.used_for_counting) as counting
      from stock as s group by s.unit_type, s.first_day
    union all
    select s.unit_type, s.end_day, -count(*), -count(*) filter (where s.used_for_counting)
      from stock as s group by s.unit_type, s.end_day
  ),
  -- Periods that have a row, and those that ought to have one.
  period as (
    select h.unit_type, h.resolution, h.year, coalesce(h.month, 0) as month,
           case h.resolution when 'year' then make_date(h.year, 12, 31)
                             else (make_date(h.year, h.month, 1) + interval '1 month - 1 day')::date end as last_day
      from register.statistical_history_row as h
     where exists (select from settled)
    union
    select t.unit_type, p.resolution, p.year, coalesce(p.month, 0), p.last_day
      from register.report_state as s
     cross join (select m.unit_type, min(m.day) as first_day from moved as m group by m.unit_type) as t
     cross join lateral register.periods(greatest(t.first_day, (s.through - interval '100 years')::date),
                                         s.through) as p
     where s.report = 'statistical_history'
  ),
  level as (
    select e.*, sum(e.change) over w as existing, sum(e.counting) over w as countable
      from (select p.*, 0 as change, 0 as counting from period as p
            union all
            select m.unit_type, null, null, null, m.day, m.change, m.counting from moved as m) as e
    window w as (partition by e.unit_type order by e.last_day)
  )
  select 'units at the end of a period are those in stock on that day',
         format('%s %s %s %s: %s existing, %s countable; in stock %s and %s', l.resolution, l.year, nullif(l.month, 0),
                l.unit_type, coalesce((h.measures).exists_count, 0), coalesce((h.measures).countable_count, 0),
                l.existing, l.countable)
    from level as l
    left join register.statistical_history_row as h
      on h.resolution = l.resolution and h.year = l.year and coalesce(h.month, 0) = l.month
     and h.unit_type = l.unit_type
   where l.resolution is not null
     and (coalesce((h.measures).exists_count, 0), coalesce((h.measures).countable_count, 0))
         <> (l.existing, l.countable)
  union all
  select 'facets of units count every counted row once',
         format('%s from %s until %s: %s, should be %s', coalesce(f.unit_type, u.unit_type),
                coalesce(f.valid_from, u.valid_from), coalesce(f.valid_until, u.valid_until), coalesce(f.count, 0),
                coalesce(u.count, 0))
    from (select x.unit_type, x.valid_from, x.valid_until, sum(x.count) as count
            from register.statistical_unit_facet_row as x
           where exists (select from settled)
           group by x.unit_type, x.valid_from, x.valid_until) as f
    full join (select x.unit_type, x.valid_from, x.valid_until, count(*) as count
                 from register.statistical_unit_row as x
                where x.used_for_counting
                  and exists (select from settled)
                group by x.unit_type, x.valid_from, x.valid_until) as u
      on u.unit_type = f.unit_type and u.valid_from = f.valid_from and u.valid_until = f.valid_until
   where f.count is distinct from u.count
  union all
  select 'the history by facet sums up to the history',
         format('%s %s %s', coalesce(h.period, f.period), coalesce(h.unit_type, f.unit_type),
                coalesce(h.measure, f.measure))
    from (select x.year * 100 + coalesce(x.month, 0) as period, x.unit_type, m.key as measure, m.value::bigint as value
            from register.statistical_history_row as x
           cross join lateral jsonb_each_text(to_jsonb(x.measures)
                                              || jsonb_build_object('unit_count', x.unit_count)) as m
           where exists (select from settled)) as h
    full join (
      -- Most facets have the same measures as many others.
      select x.period, x.unit_type, m.key as measure, sum(x.facets * m.value::bigint) as value
        from (
          select x.year * 100 + coalesce(x.month, 0) as period, x.unit_type, x.unit_count, x.measures,
                 count(*) as facets
            from register.statistical_history_facet_row as x
           where exists (select from settled)
           group by x.year * 100 + coalesce(x.month, 0), x.unit_type, x.unit_count, x.measures
        ) as x
       cross join lateral jsonb_each_text(to_jsonb(x.measures) || jsonb_build_object('unit_count', x.unit_count)) as m
       group by x.period, x.unit_type, m.key
    ) as f on f.period = h.period and f.unit_type = h.unit_type and f.measure = h.measure
   where h.value is distinct from f.value
  union all
  select 'values of the history by facet sum up to those of the history',
         format('%s %s, variable %s', coalesce(h.period, f.period), coalesce(h.unit_type, f.unit_type),
                coalesce(h.stat_definition_id, f.stat_definition_id))
    from (select x.year * 100 + coalesce(x.month, 0) as period, x.unit_type, m.*
            from register.statistical_history_row as x
           cross join lateral unnest(x.moments) as m
           where exists (select from settled)) as h
    full join (
      select x.year * 100 + coalesce(x.month, 0) as period, x.unit_type, m.stat_definition_id, sum(m.n) as n,
             sum(m.total) as total, sum(m.squares) as squares, min(m.min) as min, max(m.max) as max
        from register.statistical_history_facet_row as x
       cross join lateral unnest(x.moments) as m
       where exists (select from settled)
       group by x.year * 100 + coalesce(x.month, 0), x.unit_type, m.stat_definition_id
    ) as f on f.period = h.period and f.unit_type = h.unit_type and f.stat_definition_id = h.stat_definition_id
   where (h.n, h.total, h.squares, h.min, h.max) is distinct from (f.n, f.total, f.squares, f.min, f.max)
  union all
  select 'a report has no row about nothing', format('%s %s', x.report, x.row)
    from (select 'statistical_history' as report, h.ctid::text as row from register.statistical_history_row as h
           where h.unit_count <= 0
          union all
          select 'statistical_history_facet', h.ctid::text from register.statistical_history_facet_row as h
           where h.unit_count <= 0) as x;
$$;
