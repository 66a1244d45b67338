-- complete_spent: before a settled task is retried, scopes below it in which nothing is left to run complete, deepest
-- first: they were cancelled while their last children completed. So a retry opens only scopes that something will
-- close.
--
--   failed | cancelled -> completed
--   returns whether nothing is left to run in the task itself
--   locks   outcome and scope rows below the task, which nobody else takes while it is settled
create or replace function worker.complete_spent(p_task_id bigint)
  returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_tree  bigint[];
  v_depth smallint;
  v_ids   bigint[];
begin
  with recursive tree as (
    select p_task_id as id
    union all
    select s.id
      from tree as p
      join worker.task as c on c.parent_id = p.id
      join worker.scope as s on s.id = c.id and s.state <> 'completed'
  )
  select array_agg(t.id) into v_tree from tree as t;

  for v_depth in
    select distinct s.depth from worker.scope as s where s.id = any (v_tree) order by 1 desc
  loop
    v_ids := array(
      select s.id
        from worker.scope as s
        left join worker.command_registry as c on c.command = s.command
       where s.id = any (v_tree)
         and s.depth = v_depth
         and c.join_procedure is null
         and not exists (select from worker.task as t join worker.outcome as o on o.id = t.id
                          where t.parent_id = s.id and o.state <> 'completed' and o.merged_into is null));
    continue when v_ids = '{}' or p_task_id = any (v_ids);
    update worker.outcome as o
       set state        = 'completed',
           error        = null,
           completed_at = worker.now()
      from worker.task as t
     where o.id = t.id
       and o.state <> 'completed'
       and (o.id = any (v_ids) or o.merged_into = any (v_ids) or t.parent_id = any (v_ids));
    update worker.scope as s
       set state              = case when s.id = any (v_ids) then 'completed' else s.state end,
           cancel_reason      = case when s.id = any (v_ids) then null else s.cancel_reason end,
           failed_children    = n.failed,
           cancelled_children = n.cancelled
      from (select t.parent_id, count(*) filter (where o.state = 'failed') as failed,
                   count(*) filter (where o.state = 'cancelled') as cancelled
              from worker.task as t
              join worker.outcome as o on o.id = t.id
             where t.parent_id = any (v_ids || array(select x.parent_id from worker.scope as x
                                                      where x.id = any (v_ids)))
             group by t.parent_id) as n
     where s.id = n.parent_id;
    insert into worker.after_call (task_id, command)
    select s.id, s.command from worker.scope as s where s.id = any (v_ids) and s.has_after;
  end loop;
  return p_task_id = any (v_ids);
end;
$$;
