-- scopes: a page of tasks that have children; the last row says how far it has looked. Each task is looked up by
-- itself.
select f.id, f.total, f.open, f.failed, f.cancelled, f.last_id, f.has_more, t.command, t.queue, t.lane, t.parent_id,
       t.state, t.waits_for, t.process_start_at, t.completed_at
  from worker.find_scopes(%(open)s::boolean, %(top)s::boolean, %(before)s::bigint, %(page)s::integer) as f
  left join lateral (
    select y.command, y.queue, y.lane, y.parent_id, y.state, y.waits_for, y.process_start_at, y.completed_at
      from worker.tasks as y
     where y.id = f.id
    offset 0
  ) as t on true
