-- task_list: these tasks in the order given, without payloads, which can be large. Each is looked up by itself: a join
-- would read all of them. Of one that runs: the worker, its host and its pid there.
select t.id, t.command, t.queue, t.state, t.priority, t.parent_id, t.lane, t.attempt, t.created_at, t.process_start_at,
       t.completed_at, t.process_duration_ms, t.waits_for, t.due_at, t.progress, t.merged_into, t.error,
       t.cancel_reason, t.worker_id, w.name as host, w.pid
  from unnest(%(ids)s::bigint[]) with ordinality as x (id, place)
 cross join lateral (
   select y.id, y.command, y.queue, y.state, y.priority, y.parent_id, y.lane, y.attempt, y.created_at,
          y.process_start_at, y.completed_at, y.process_duration_ms, y.waits_for, y.due_at, y.progress, y.merged_into,
          y.error, y.cancel_reason, y.worker_id
     from worker.tasks as y
    where y.id = x.id
   offset 0
 ) as t
  left join worker.worker as w on w.worker_id = t.worker_id
 order by x.place
