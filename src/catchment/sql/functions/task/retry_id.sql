-- retry_id: the task whose retry runs a task again: itself, or the topmost of those above it that have settled with it.
-- Null unless it has failed or was cancelled, and is not merged into another one.
--
--   plan    explain
create or replace function worker.retry_id(p_task_id bigint)
  returns bigint
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with recursive up as (
    select t.id, t.parent_id
      from worker.task as t
      join worker.outcome as o on o.id = t.id
     where t.id = p_task_id
       and o.state in ('failed', 'cancelled')
       and o.merged_into is null
    union all
    select t.id, t.parent_id
      from up as c
      join worker.task as t on t.id = c.parent_id
      join worker.outcome as o on o.id = t.id and o.state in ('failed', 'cancelled')
  )
  select min(u.id) from up as u;
$$;
