-- has_failed_siblings: has a sibling of this task failed already?
create or replace function worker.has_failed_siblings(task_id bigint)
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select coalesce((
    select s.failed_children > coalesce((select (o.state = 'failed')::integer from worker.outcome as o
                                          where o.id = t.id), 0)
      from worker.task as t
      join worker.scope as s on s.id = t.parent_id
     where t.id = task_id), false);
$$;
