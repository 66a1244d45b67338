-- unsettled_tree: a task and everything under it that has not settled.
create or replace function worker.unsettled_tree(p_task_id bigint)
  returns bigint[]
  language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
  with recursive tree as (
    select p_task_id as id
    union all
    select c.id from tree as p join worker.task as c on c.parent_id = p.id
  )
  select coalesce(array_agg(t.id), '{}')
    from tree as t
   where not exists (select from worker.outcome as o where o.id = t.id);
$$;
