-- task_tree: the tree that a task belongs to; see the function.
select t.id, t.command, t.state, t.parent_id, t.depth, t.attempt, t.process_duration_ms, t.completion_duration_ms,
       t.progress, t.error, t.cancel_reason, t.children, t.counts, t.at_least
  from worker.task_tree(%(id)s::bigint, %(state)s::text, %(limit)s::integer,
                        greatest(%(limit)s::integer, 100000)) as t
