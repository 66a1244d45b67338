-- next_cron: the first time after p_after at which a cron expression fires, in local time of the time zone. Days are
-- looked at in stretches, each four times as long as the one before, so that near times cost little.
--
--   raises  CM016 the schedule could never fire; 22023 when the server does not know the time zone
create or replace function worker.next_cron(
  p_cron      text,
  p_timezone  text,
  p_after     timestamptz
)
  returns timestamptz
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  -- From one 29 February that is a Sunday to the next it can be forty years.
  c_days   constant integer := 15000;
  v_cron   worker.cron := worker.parse_cron(p_cron);
  v_today  date := (p_after at time zone p_timezone)::date;
  v_from   integer := -1;
  v_length integer := 10;
  v_date   date;
  v_match  date;
  v_next   timestamptz;
begin
  while v_from <= c_days loop
    for v_date in
      select d.date
        from generate_series(v_from, v_from + v_length - 1) as n
       cross join lateral (select v_today + n as date) as d
       where extract(month from d.date)::integer = any (v_cron.months)
         and case
               when v_cron.any_day or v_cron.any_weekday
                 then extract(day from d.date)::integer = any (v_cron.days)
                      and extract(dow from d.date)::integer = any (v_cron.weekdays)
               else extract(day from d.date)::integer = any (v_cron.days)
                    or extract(dow from d.date)::integer = any (v_cron.weekdays)
             end
       order by n
    loop
      if v_date > v_match + 1 then
        return v_next;
      end if;
      v_next := least(v_next, worker.next_on_date(v_cron, p_timezone, v_date, p_after));
      -- Clocks that go back over midnight show a date twice, so the date after may come first.
      if v_match is not null then
        return v_next;
      elsif v_next is not null then
        v_match := v_date;
      end if;
    end loop;
    v_from := v_from + v_length;
    exit when v_today + v_from > v_match + 1;
    v_length := v_length * 4;
  end loop;
  return v_next;
end;
$$;
