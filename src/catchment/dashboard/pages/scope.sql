-- scope: a task with the figures of its children.
select t.id, t.command, t.queue, t.state, t.parent_id, t.root_id, t.lane, t.attempt, t.created_at, t.process_start_at,
       t.process_stop_at, t.completed_at, left(t.error, 2000) as error, worker.now() as now,
       coalesce(f.total, 0) as total, coalesce(f.open, 0) as open, coalesce(f.failed, 0) as failed,
       coalesce(f.cancelled, 0) as cancelled, coalesce(f.interrupted, 0) as interrupted,
       coalesce(f.processing, 0) as processing, coalesce(f.waiting, 0) as waiting, f.child_mode, f.on_child_failure,
       coalesce(f.is_joining, false) as is_joining, f.cancel_reason, coalesce(f.ended, 0) as ended, f.seconds,
       worker.retry_id(t.id) as retry_id
  from worker.tasks as t
  left join lateral worker.scope_figures(t.id, %(most)s::integer) as f on true
 where t.id = %(id)s::bigint
