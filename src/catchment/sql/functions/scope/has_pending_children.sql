-- has_pending_children: is a child of this task unsettled?
create or replace function worker.has_pending_children(task_id bigint)
  returns boolean
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from worker.task as c
     where c.parent_id = task_id
       and not exists (select from worker.outcome as o where o.id = c.id));
$$;
