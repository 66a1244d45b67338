-- check_snooze: refuse a time that no task can sleep until. One that has just passed means: as soon as possible.
--
--   raises  CM040 the time to sleep is invalid
create or replace function worker.check_snooze(p_until timestamptz)
  returns void
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  if p_until is null or p_until > worker.now() + interval '100 years' then
    raise exception using
      errcode = 'CM040',
      message = format('a task cannot sleep until %s, expected a time within 100 years',
                       coalesce(p_until::text, 'null')),
      hint = 'Let the handler return, and enqueue a task for that time: p_scheduled_at.';
  end if;
end;
$$;
