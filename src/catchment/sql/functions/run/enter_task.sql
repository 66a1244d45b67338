-- enter_task: from here on this transaction is the handler of that task.
create or replace function worker.enter_task(
  p_task_id  bigint,
  p_fence    bigint
)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('worker.task_id', p_task_id::text, true), set_config('worker.task_fence', p_fence::text, true);
end;
$$;
