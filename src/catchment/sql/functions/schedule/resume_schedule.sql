-- resume_schedule: resume a paused schedule at its next time. Missed times are skipped.
--
--   returns when it fires next; null if that is decided by the next upkeep
--   locks   the schedule row
--   raises  CM018 an option has an invalid value
create or replace function worker.resume_schedule(p_name text)
  returns timestamptz
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_schedule worker.schedule := worker.hold_schedule(p_name);
  v_now      timestamptz := worker.now();
begin
  if not v_schedule.enabled then
    if v_schedule.next_at <= v_now then
      v_schedule.next_at := worker.next_time(v_schedule.every, v_schedule.cron, v_schedule.timezone,
                                             v_schedule.next_at, v_now);
    end if;
    update worker.schedule as s
       set enabled = true,
           next_at = v_schedule.next_at
     where s.name = p_name;
  end if;
  return v_schedule.next_at;
end;
$$;
