-- task_ends: what a developer is shown of tasks that have settled or failed once: the seconds of the last attempt, from
-- its start until the end of the task was stored, and the lane that is halted by the task.
select t.id, t.command, t.state, t.attempt,
       extract(epoch from t.completed_at - t.process_start_at)::float8 as seconds, t.error,
       (select jsonb_build_object('queue', l.queue, 'lane', l.lane)
          from worker.lanes as l
         where l.queue = t.queue
           and l.lane = coalesce(t.lane, '')
           and l.head_id = t.id
           and l.state = 'halted') as halted
  from worker.tasks as t
 where t.id = any (%(ids)s)
 order by t.completed_at, t.id
