-- task_tree: the tree that a task belongs to, from its root, depth first; at most so many tasks of it: the task itself,
-- then those that failed, that run, that wait, and the others, or only those in one state; besides, every task above
-- them. The row of the root has counts: how many tasks of each command are in which state. children: how many a task
-- has, shown or not.
with recursive root as (
  select coalesce(t.root_id, t.id) as id from worker.tasks as t where t.id = %(id)s::bigint
),
tree as (
  select t.id, t.parent_id, t.command, t.state, array[t.id] as path
    from worker.tasks as t
    join root as r on r.id = t.id
  union all
  select c.id, c.parent_id, c.command, c.state, p.path || c.id
    from tree as p
    join worker.tasks as c on c.parent_id = p.id
),
chosen as (
  select t.path
    from tree as t
   where t.id = %(id)s::bigint
      or %(state)s::text is null
      or t.state = %(state)s
   order by t.id <> %(id)s::bigint,
            array_position(array['failed', 'interrupted', 'processing', 'cancelled', 'waiting', 'pending'], t.state),
            t.path
   limit %(limit)s::bigint
),
counted as (
  select t.command, t.state, count(*) as tasks from tree as t group by t.command, t.state
),
parents as (
  select t.parent_id as id, count(*) as children from tree as t where t.parent_id is not null group by t.parent_id
)
select t.id, t.command, t.state, t.parent_id, t.depth, t.attempt, t.process_duration_ms, t.completion_duration_ms,
       t.progress, t.error, coalesce(n.children, 0) as children,
       case when t.parent_id is null then
         (select jsonb_agg(jsonb_build_object('command', c.command, 'state', c.state, 'tasks', c.tasks)
                           order by c.command, c.state)
            from counted as c)
       end as counts
  from tree as p
  join worker.tasks as t on t.id = p.id
  left join parents as n on n.id = p.id
 where p.id in (select unnest(c.path) from chosen as c)
 order by p.path
