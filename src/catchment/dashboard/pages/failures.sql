-- failures: the tasks that failed last.
select t.id, t.command, t.queue, t.completed_at, left(t.error, 300) as error
  from worker.find_tasks('failed', p_page => 8, p_looked => 8) as f
 cross join lateral (select y.id, y.command, y.queue, y.completed_at, y.error
                       from worker.tasks as y
                      where y.id = f.id
                     offset 0) as t
 where t.completed_at >= worker.now() - %(recent)s::interval
 order by t.completed_at desc
