-- run_schedule: enqueue the task of a schedule now, also of one that is paused. Its next time stays what it is.
--
--   returns the task
--   locks   the schedule row
--   raises  CM018 an option has an invalid value; see enqueue
create or replace function worker.run_schedule(p_name text)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_schedule worker.schedule := worker.hold_schedule(p_name);
  v_task_id  bigint := worker.enqueue(v_schedule.command, v_schedule.payload);
begin
  update worker.schedule as s
     set last_at      = worker.now(),
         last_task_id = v_task_id,
         recent_ids   = (v_task_id || s.recent_ids)[1:10]
   where s.name = p_name;
  return v_task_id;
end;
$$;
