-- run_schedule: enqueue the task of a schedule now, also of one that is paused or has a run that is not settled. Its
-- next time stays what it is.
--
--   returns the task
--   locks   the schedule row; see make_run
--   raises  CM018 an option has an invalid value; see enqueue
create or replace function worker.run_schedule(p_name text)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_schedule worker.schedule := worker.hold_schedule(p_name);
  v_now      timestamptz := worker.now();
  v_task_id  bigint := worker.make_run(v_schedule, v_now);
begin
  perform worker.note_run(p_name, v_now, null, 'by_hand', v_task_id);
  return v_task_id;
end;
$$;
