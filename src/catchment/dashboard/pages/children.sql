-- children: these tasks without payloads, in the order given, with their last attempts that did not complete. Each is
-- looked up by itself: a join would read all of them.
select t.id, t.command, t.state, t.attempt, t.max_attempts, t.created_at, t.process_start_at, t.process_stop_at,
       t.completed_at, t.waits_for, t.due_at, t.child_mode is not null as is_scope,
       case when t.state = 'waiting' then (t.progress ->> 'done')::bigint end as done_children,
       case when t.state = 'waiting' then (t.progress ->> 'total')::bigint end as total_children,
       left(t.error, 300) as error,
       (select jsonb_agg(jsonb_build_object('attempt', a.attempt, 'state', a.state,
                                            'started', extract(epoch from a.started_at),
                                            'ended', extract(epoch from a.ended_at)) order by a.attempt)
          from (select x.attempt, x.state, x.started_at, x.ended_at
                  from worker.attempt as x
                 where x.task_id = t.id
                   and isfinite(x.started_at)
                   and isfinite(x.ended_at)
                 order by x.task_id, x.attempt desc
                 limit %(attempts)s::integer) as a) as attempts
  from unnest(%(ids)s::bigint[]) with ordinality as x (id, place)
 cross join lateral (
   select y.id, y.command, y.state, y.attempt, y.max_attempts, y.created_at, y.process_start_at, y.process_stop_at,
          y.completed_at, y.waits_for, y.due_at, y.child_mode, y.progress, y.error
     from worker.tasks as y
    where y.id = x.id
   offset 0
 ) as t
 order by x.place
