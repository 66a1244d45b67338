-- task_info: one task as a program sees it; host and pid are those of the worker that runs it.
select t.id, t.command, t.queue, t.state, t.payload, t.result, t.error_detail as error, t.info, t.progress, t.attempt,
       t.max_attempts, t.snoozes, t.priority, t.lane, t.parent_id, t.merged_into, t.waits_for, t.due_at, t.created_at,
       t.scheduled_at, t.process_start_at as started_at, t.completed_at, t.worker_id, w.name as host, w.pid
  from worker.tasks as t
  left join worker.worker as w on w.worker_id operator(pg_catalog.=) t.worker_id
 where t.id operator(pg_catalog.=) %(id)s::bigint
