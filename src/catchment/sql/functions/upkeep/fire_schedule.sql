-- fire_schedule: enqueue the task of a due schedule and set its next time, in one step. Of several workers that try, one does.
-- A new schedule (no time yet) only gets its first time.
--
--   locks   the schedule row if it is free
create or replace function worker.fire_schedule(
  p_name     text,
  p_next_at  timestamptz
)
  returns bigint
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_schedule worker.schedule;
begin
  select s.* into v_schedule
    from worker.schedule as s
   where s.name = p_name
     and s.enabled
     and coalesce(s.next_at <= worker.now(), true)
     for update skip locked;
  if not found then
    return null;
  end if;
  update worker.schedule as s
     set next_at = p_next_at,
         last_at = case when s.next_at is null then s.last_at else worker.now() end
   where s.name = p_name;
  if v_schedule.next_at is null then
    return null;
  end if;
  return worker.enqueue(v_schedule.command, v_schedule.payload);
end;
$$;
