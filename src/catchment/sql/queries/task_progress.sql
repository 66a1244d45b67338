-- task_progress: progress of one task, by its key alone. seconds: since its handler returned, from when on its children
-- could run.
select t.id, t.command, t.state, t.waits_for, (t.progress ->> 'done')::bigint as done,
       (t.progress ->> 'total')::bigint as total, (t.progress ->> 'failed')::bigint as failed,
       case when isfinite(t.process_stop_at)
         then greatest(extract(epoch from worker.now() - t.process_stop_at), 0)::float8 end as seconds
  from worker.tasks as t
 where t.id = %(id)s::bigint
