-- task_tree: the tree that a task belongs to; see the function. Of those that run, with the worker.
select t.id, t.command, t.state, t.parent_id, t.depth, t.attempt, t.process_duration_ms, t.completion_duration_ms,
       t.progress, t.error, t.cancel_reason, t.children, t.worker_id, w.name as host, w.pid,
       t.counts, t.at_least
  from worker.task_tree(%(id)s::bigint, %(state)s::text, %(limit)s::integer,
                        greatest(%(limit)s::integer, 100000)) with ordinality as t
       (id, command, state, parent_id, depth, attempt, process_duration_ms, completion_duration_ms, progress, error,
        cancel_reason, children, worker_id, counts, at_least, place)
  left join worker.worker as w on w.worker_id = t.worker_id
 order by t.place
