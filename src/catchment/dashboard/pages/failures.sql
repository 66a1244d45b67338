-- failures: the tasks that failed last. By the index outcome_trouble.
select t.id, t.command, t.queue, t.completed_at, left(t.error, 300) as error
  from worker.tasks as t
 where t.state = 'failed'
   and t.completed_at >= worker.now() - %(recent)s::interval
 order by t.completed_at desc
 limit 8
