-- fire_schedule: decide the times of a schedule that have come, by its policies: enqueue its tasks, set its next time
-- and note both in its history, in one step and by the server's clock. If several sessions try, one succeeds. A new
-- schedule (no time yet) only gets its first time; so does one whose last firing is in the future because the clock was
-- set back. With missed = 'all' at most 100 times are decided, the rest stays due.
--
--   locks   the schedule row if it is free; to cancel open runs, see cancel
--   returns the last task that it made; null when it was not due, another session was at it, or no task was made
create or replace function worker.fire_schedule(p_name text)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_most     constant integer := 100;
  v_schedule worker.schedule;
  v_now      timestamptz;
  v_due      timestamptz;
  v_next     timestamptz;
  v_fate     text;
  v_task_id  bigint;
  v_last_id  bigint;
begin
  select s.* into v_schedule
    from worker.schedule as s
   where s.name = p_name
     and s.enabled
     and (coalesce(s.next_at <= worker.now(), true) or s.last_at > worker.now())
     and worker.may_fire(s)
     for update skip locked;
  if not found then
    return null;
  end if;
  v_now := worker.now();
  if v_schedule.next_at is null or v_schedule.last_at > v_now then
    update worker.schedule as s
       set next_at = worker.next_time(s.every, s.cron, s.timezone, null, v_now),
           last_at = case when s.last_at <= v_now then s.last_at end
     where s.name = p_name;
    return null;
  end if;
  for i in 1 .. c_most loop
    exit when v_schedule.next_at > v_now;
    v_due := v_schedule.next_at;
    v_next := worker.next_time(v_schedule.every, v_schedule.cron, v_schedule.timezone, v_due, v_due);
    if v_next <= v_now then
      v_due := worker.due_time(v_schedule, v_now);
      v_next := worker.next_time(v_schedule.every, v_schedule.cron, v_schedule.timezone, v_due,
                                 case v_schedule.missed when 'all' then v_due else v_now end);
    end if;
    v_fate := worker.fate_of_time(v_schedule, v_due, v_now);
    exit when v_fate = 'wait';
    v_task_id := case when v_fate = 'made' then worker.make_run(v_schedule, v_due) end;
    v_last_id := coalesce(v_task_id, v_last_id);
    v_schedule := worker.note_run(p_name, v_due, v_schedule.next_at, v_fate, v_task_id, v_next);
  end loop;
  return v_last_id;
end;
$$;
