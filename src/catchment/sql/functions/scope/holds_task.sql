-- holds_task: does this session run that attempt? Knowing the fence is the proof.
create or replace function worker.holds_task(
  p_task_id  bigint,
  p_fence    bigint
)
  returns boolean
  language sql
  stable
return coalesce(pg_catalog.current_setting('worker.task_id', true) = p_task_id::text
                and pg_catalog.current_setting('worker.task_fence', true) = p_fence::text, false);
