-- task_ends: those of some tasks that have settled, with the seconds from the first start to the end.
select t.id, t.command, t.state, extract(epoch from t.completed_at - t.process_start_at)::float8 as seconds, t.error
  from worker.tasks as t
 where t.id = any (%(ids)s)
   and t.state in ('completed', 'failed', 'cancelled')
 order by t.completed_at, t.id
