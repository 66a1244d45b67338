-- next_cron: the first time after p_after at which a cron expression fires, in local time of the time zone.
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
  -- From one 29 February to the next it can be eight years.
  c_days  constant integer := 3000;
  v_cron  worker.cron := worker.parse_cron(p_cron);
  v_today date := (p_after at time zone p_timezone)::date;
  v_date  date;
  v_match date;
  v_next  timestamptz;
begin
  for v_date in
    select v_today + n
      from generate_series(-1, c_days) as n
     where extract(month from v_today + n)::integer = any (v_cron.months)
       and case
             when v_cron.any_day     then extract(dow from v_today + n)::integer = any (v_cron.weekdays)
             when v_cron.any_weekday then extract(day from v_today + n)::integer = any (v_cron.days)
             else extract(day from v_today + n)::integer = any (v_cron.days)
                  or extract(dow from v_today + n)::integer = any (v_cron.weekdays)
           end
     order by n
  loop
    v_next := least(v_next, worker.next_on_date(v_cron, p_timezone, v_date, p_after));
    -- Clocks that go back over midnight show a date twice, so the date after may come first.
    exit when v_date > v_match;
    v_match := case when v_next is not null then v_date end;
  end loop;
  return v_next;
end;
$$;
