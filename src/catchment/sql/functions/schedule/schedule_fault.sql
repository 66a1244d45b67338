-- schedule_fault: why a schedule could never fire, such as one from a restored dump or with a time zone that an update
-- of the server has removed; null if it could.
create or replace function worker.schedule_fault(p_schedule worker.schedule)
  returns text
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_schedule.cron is not null then
    perform worker.parse_cron(p_schedule.cron), worker.now() at time zone p_schedule.timezone;
  elsif p_schedule.every not between interval '1 second' and interval '100 years' then
    return format('every is %s, expected one second to 100 years', p_schedule.every);
  end if;
  return null;
exception
  when others then
    return sqlerrm;
end;
$$;
