-- leave_task: clear the current task after its handler has returned and the transition is made.
--
--   returns whether after hooks are due
--   session sets worker.task_id
create or replace function worker.leave_task()
  returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('worker.task_id', '', true);
  return exists (select from worker.after_call);
end;
$$;
