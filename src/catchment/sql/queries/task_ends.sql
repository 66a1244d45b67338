-- task_ends: what a developer is shown of tasks that have settled or failed once: the seconds from the first start to
-- the end, the attempts that have failed, the time from the last one to the next, and the lane that is halted
-- by the task.
select t.id, t.command, t.state, extract(epoch from t.completed_at - t.process_start_at)::float8 as seconds, t.error,
       t.max_attempts, a.failures, t.waits_for,
       case when t.waits_for = 'retry' then t.due_at - a.ended_at end as again_in,
       (select jsonb_build_object('queue', l.queue, 'lane', l.lane)
          from worker.lanes as l
         where l.queue = t.queue
           and l.lane = coalesce(t.lane, '')
           and l.head_id = t.id
           and l.state = 'halted') as halted
  from worker.tasks as t
 cross join lateral (select count(*) filter (where a.state = 'failed') as failures, max(a.ended_at) as ended_at
                       from worker.attempt as a
                      where a.task_id = t.id) as a
 where t.id = any (%(ids)s)
 order by t.completed_at, t.id
