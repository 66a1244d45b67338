-- task_show: one task with its attempts and warnings.
select t.*,
       (select coalesce(jsonb_agg(jsonb_build_object('attempt', a.attempt, 'state', a.state, 'started_at', a.started_at,
                                                     'ended_at', a.ended_at, 'error', a.error) order by a.ended_at),
                                                     '[]')
          from worker.attempt as a where a.task_id = t.id) as attempts,
       (select coalesce(jsonb_agg(jsonb_build_object('at', w.at, 'source', w.source, 'message', w.message)
                                  order by w.at), '[]')
          from worker.warning as w where w.task_id = t.id) as warnings
  from worker.tasks as t
 where t.id = %(id)s::bigint
