-- fire_schedule: enqueue the task of a due schedule and set its next time, in one step and by the server's clock. Of
-- several sessions that try, one does. A new schedule (no time yet) only gets its first time; so does one that last
-- fired in what is the future since the clock was set back.
--
--   locks   the schedule row if it is free
--   returns the task; null when it was not due, another session was at it, or it only got its first time
create or replace function worker.fire_schedule(p_name text)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_schedule worker.schedule;
  v_now      timestamptz;
  v_task_id  bigint;
begin
  select s.* into v_schedule
    from worker.schedule as s
   where s.name = p_name
     and s.enabled
     and (coalesce(s.next_at <= worker.now(), true) or s.last_at > worker.now())
     for update skip locked;
  if not found then
    return null;
  end if;
  v_now := worker.now();
  if v_schedule.last_at > v_now then
    v_schedule.next_at := null;
  end if;
  if v_schedule.next_at is not null then
    v_task_id := worker.enqueue(v_schedule.command, v_schedule.payload);
  end if;
  update worker.schedule as s
     set next_at      = worker.next_time(s.every, s.cron, s.timezone, v_schedule.next_at, v_now),
         last_at      = case when v_task_id is not null then v_now when s.last_at <= v_now then s.last_at end,
         last_task_id = coalesce(v_task_id, s.last_task_id),
         recent_ids   = case when v_task_id is null then s.recent_ids else (v_task_id || s.recent_ids)[1:10] end
   where s.name = p_name;
  return v_task_id;
end;
$$;
