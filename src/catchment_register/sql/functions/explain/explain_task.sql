-- explain_task: what worker.explain says about a task, and about the child that it waits for. See explain.
create or replace function register.explain_task(p_task_id bigint)
  returns setof worker.condition
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  with own as materialized (
    select p_task_id as task_id, c.* from worker.explain(p_task_id) as c
  ),
  child as materialized (
    select x.task_id, c.*
      from (select (o.evidence -> 'task' ->> 'id')::bigint as task_id from own as o where o.kind = 'children') as x
     cross join lateral worker.explain(x.task_id) as c
     where x.task_id is not null
  )
  select c.kind, c.is_blocking,
         c.evidence || jsonb_build_object('task_id', c.task_id, 'command', t.command),
         format('Task %s (%s): %s', c.task_id, t.command, c.words), c.remedy
    from (select 1 as n, o.* from own as o union all select 2, o.* from child as o) as c
   cross join lateral (select t.command from worker.tasks as t where t.id = c.task_id) as t
   order by c.n;
$$;
