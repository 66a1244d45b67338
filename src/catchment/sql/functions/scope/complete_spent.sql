-- complete_spent: before a settled task is retried, scopes below it in which nothing is left to run complete, deepest
-- first: they were cancelled while their last children completed. So a retry opens only scopes that something will
-- close. How each of these scopes had ended is kept in attempt.
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
      join worker.outcome as o on o.parent_id = p.id and o.state <> 'completed'
      join worker.scope as s on s.id = o.id
  )
  select array_agg(t.id) into v_tree from tree as t;

  -- The retry takes the ends of all of them away. A run of the join that failed is kept already.
  insert into worker.attempt (task_id, attempt, phase, state, is_last, ended_at, error)
  select o.id, o.attempt, 2, o.state, true, o.completed_at, o.error
    from worker.outcome as o
   where o.id = any (v_tree)
     and not exists (select from worker.attempt as a
                      where a.task_id = o.id and a.phase = 1 and a.is_last and a.error = o.error);

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
         and not exists (select from worker.outcome as o
                          where o.parent_id = s.id and o.state <> 'completed' and o.merged_into is null));
    continue when v_ids = '{}' or p_task_id = any (v_ids);
    update worker.outcome as o
       set state        = 'completed',
           error        = null,
           completed_at = worker.now()
     where o.state <> 'completed'
       and o.id = any (v_ids || array(select x.id from worker.outcome as x where x.merged_into = any (v_ids))
                             || array(select x.id from worker.outcome as x
                                       where x.parent_id = any (v_ids) and x.state <> 'completed'));
    update worker.scope as s
       set state              = case when s.id = any (v_ids) then 'completed' else s.state end,
           cancel_reason      = case when s.id = any (v_ids) then null else s.cancel_reason end,
           failed_children    = (select count(*) from worker.outcome as o
                                  where o.parent_id = s.id and o.state <> 'completed' and o.state = 'failed'),
           cancelled_children = (select count(*) from worker.outcome as o
                                  where o.parent_id = s.id and o.state <> 'completed' and o.state = 'cancelled')
     where s.id = any (v_ids || array(select x.parent_id from worker.scope as x where x.id = any (v_ids)));
    insert into worker.after_call (task_id, command)
    select s.id, s.command from worker.scope as s where s.id = any (v_ids) and s.has_after;
  end loop;
  return p_task_id = any (v_ids);
end;
$$;
