-- next_on_date: the first time after p_after at which a cron expression fires on this local date. When clocks change,
-- Debian's rule holds. Fixed times fire once: those that are skipped when the clocks go forward fire at the moment of
-- the change, of those that occur twice the first counts. Other expressions fire whenever the clock shows a time of
-- theirs: not at times that are skipped, and twice at those that occur twice.
create or replace function worker.next_on_date(
  p_cron      worker.cron,
  p_timezone  text,
  p_date      date,
  p_after     timestamptz
)
  returns timestamptz
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  c_step    constant interval := '6 hours';
  v_moments timestamptz[] := array(select m at time zone 'UTC'
                                     from generate_series(p_date - interval '18 hours', p_date + interval '42 hours',
                                                          c_step) as m);
  v_offsets interval[] := array(select distinct (m at time zone p_timezone) - (m at time zone 'UTC')
                                  from unnest(v_moments) as m);
  v_next    timestamptz;
  v_skip    timestamptz;
  v_shown   timestamp := p_after at time zone p_timezone;
begin
  if cardinality(v_offsets) = 1 then
    -- No change of clocks anywhere near: the first time that is later on the clock.
    return (select (p_date + make_interval(hours => h, mins => m) - v_offsets[1]) at time zone 'UTC'
              from unnest(p_cron.hours) as h
             cross join unnest(p_cron.minutes) as m
             where p_date > v_shown::date
                or p_date = v_shown::date and p_date + make_interval(hours => h, mins => m) > v_shown
             order by h, m
             limit 1);
  end if;
  select min(t.moment) into v_next
    from (select i.moment, row_number() over (partition by l.shown order by i.moment) as n
            from unnest(p_cron.hours) as h
           cross join unnest(p_cron.minutes) as m
           cross join unnest(v_offsets) as o
           cross join lateral (select p_date + make_interval(hours => h, mins => m) as shown) as l
           cross join lateral (select (l.shown - o) at time zone 'UTC' as moment) as i
           where i.moment at time zone p_timezone = l.shown) as t
   where t.moment > p_after
     and (t.n = 1 or not p_cron.is_fixed);
  if not p_cron.is_fixed then
    return v_next;
  end if;
  select min(c.moment) into v_skip
    from unnest(v_moments) as f
   cross join lateral (select worker.clock_change(p_timezone, f, f + c_step) as moment) as c
   cross join lateral (select (c.moment - interval '1 second') at time zone p_timezone
                              + interval '1 second' as gap_from,
                              c.moment at time zone p_timezone as gap_to) as g
   where c.moment > p_after
     and exists (select
                   from unnest(p_cron.hours) as h
                  cross join unnest(p_cron.minutes) as m
                  where p_date + make_interval(hours => h, mins => m) >= g.gap_from
                    and p_date + make_interval(hours => h, mins => m) < g.gap_to);
  return least(v_next, v_skip);
end;
$$;
