-- pause_schedule: stop firing a schedule until it is resumed. Its tasks continue.
--
--   locks   the schedule row
--   raises  CM018 an option has an invalid value
create or replace function worker.pause_schedule(p_name text)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform worker.hold_schedule(p_name);
  update worker.schedule as s set enabled = false where s.name = p_name;
end;
$$;
