-- tasks: these tasks without payloads, in the order given. Each is looked up by itself: a join would read all of them.
select t.id, t.command, t.queue, t.state, t.priority, t.parent_id, t.lane, t.attempt, t.max_attempts, t.created_at,
       t.process_start_at, t.completed_at, t.completion_duration_ms::float8, t.waits_for, t.due_at,
       case when t.state = 'waiting' then (t.progress ->> 'done')::integer end as done_children,
       case when t.state = 'waiting' then (t.progress ->> 'total')::integer end as total_children,
       left(t.error, 300) as error
  from unnest(%(ids)s::bigint[]) with ordinality as x (id, place)
 cross join lateral (
   select y.id, y.command, y.queue, y.state, y.priority, y.parent_id, y.lane, y.attempt, y.max_attempts, y.created_at,
          y.process_start_at, y.completed_at, y.completion_duration_ms, y.waits_for, y.due_at, y.progress, y.error
     from worker.tasks as y
    where y.id = x.id
   offset 0
 ) as t
 order by x.place
