-- bulk: progress of a bulk change.
select b.task_id as id, b.verb, t.state, b.filter, b.actor, b.asked_at as requested_at, t.completed_at as ended_at,
       b.expected, b.done, b.skipped, b.problem, left(t.error, 2000) as error,
       (select count(*) from worker.worker as w where w.lease_until > worker.now()) as workers
  from worker.bulk as b
  join worker.tasks as t on t.id = b.task_id
 where b.task_id = %(id)s::bigint
