-- top_failures: the tasks that failed last, in the last hour. By the index outcome_trouble.
select t.id, t.command, t.queue, t.lane, t.completed_at, left(t.error, 300) as error
  from worker.tasks as t
 where t.state = 'failed'
   and t.completed_at >= (select worker.now() - interval '1 hour')
 order by t.completed_at desc
 limit %(limit)s::bigint
