-- bulk_show: progress of a bulk change.
select b.task_id as id, b.verb, t.state, b.expected, b.done, b.skipped, b.problem, t.error
  from worker.bulk as b
  join worker.tasks as t on t.id = b.task_id
 where b.task_id = %(id)s::bigint
