-- fire_schedules: fire the schedules that are due, or one of them.
--
--   locks   schedule rows that are free
--   returns how many tasks were made
create or replace function worker.fire_schedules(p_only text default null)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_aside text[] := case when p_only is null then worker.set_aside('schedule') else '{}' end;
  v_name  text;
  v_count bigint := 0;
begin
  for v_name in
    select s.name from worker.due_schedules() as s where (p_only is null or s.name = p_only) and s.name <> all (v_aside)
  loop
    v_count := v_count + (worker.fire_schedule(v_name) is not null)::integer;
  end loop;
  return v_count;
end;
$$;
