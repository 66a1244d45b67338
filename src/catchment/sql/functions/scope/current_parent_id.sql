-- current_parent_id: the parent of the current task, so that a child can spawn a sibling; null at the top level.
create or replace function worker.current_parent_id()
  returns bigint
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select t.parent_id from worker.task as t where t.id = worker.current_task_id();
$$;
