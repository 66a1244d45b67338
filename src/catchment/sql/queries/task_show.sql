-- task_show: one task with its attempts, warnings and snoozes. Runs of a join are numbered apart from attempts of the
-- handler; one of the part children is an end by its children, kept when the task was retried by hand. halted: its
-- lane, if it has halted that. host and pid are those of the worker that runs it.
select t.*, w.name as host, w.pid,
       (select coalesce(jsonb_agg(jsonb_build_object(
                          'part', case a.phase when 1 then 'join' when 2 then 'children' else 'handler' end,
                          'number', a.attempt - case a.phase when 1 then coalesce(t.attempt, 0) else 0 end,
                          'state', a.state, 'is_last', a.is_last, 'started_at', a.started_at, 'ended_at', a.ended_at,
                          'error', a.error) order by a.ended_at, a.attempt), '[]')
          from worker.attempt as a
         where a.task_id = t.id) as attempts,
       (select coalesce(jsonb_agg(jsonb_build_object('at', w.at, 'source', w.source, 'message', w.message)
                                  order by w.at), '[]')
          from worker.warning as w where w.task_id = t.id) as warnings,
       (select jsonb_build_object('times', z.times, 'until', z.until, 'at', z.at, 'reason', z.reason)
          from worker.snoozed as z where z.task_id = t.id) as snoozed,
       worker.retry_id(t.id) as retry_id,
       (select jsonb_build_object('lane', l.lane, 'queue', l.queue, 'task_id', l.head_id, 'since', l.halted_at)
          from worker.lanes as l
         where l.queue = t.queue
           and l.lane = coalesce(t.lane, '')
           and l.state = 'halted'
           and l.head_id = t.id) as halted
  from worker.tasks as t
  left join worker.worker as w on w.worker_id = t.worker_id
 where t.id = %(id)s::bigint
