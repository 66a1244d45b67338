-- task_tree: the tree that a task belongs to, from its root, depth first.
with recursive root as (
  select coalesce(t.root_id, t.id) as id from worker.tasks as t where t.id = %(id)s::bigint
),
tree as (
  select t.id, array[t.id] as path from worker.tasks as t join root as r on r.id = t.id
  union all
  select c.id, p.path || c.id from tree as p join worker.tasks as c on c.parent_id = p.id
),
picked as (
  select t.id, t.path from tree as t order by t.path limit %(limit)s::bigint
)
select t.id, t.command, t.state, t.parent_id, t.depth, t.attempt, t.process_duration_ms, t.completion_duration_ms,
       t.progress, t.error
  from picked as p
  join worker.tasks as t on t.id = p.id
 order by p.path
