-- task_outcome: one task with its attempts, as one JSON text: it is read on connections of other libraries, whose
-- adapters and settings then change nothing.
select pg_catalog.jsonb_build_object(
         'command', t.command, 'queue', t.queue, 'state', t.state, 'payload', t.payload, 'result', t.result,
         'error', t.error_detail, 'priority', t.priority, 'attempt', t.attempt, 'worker_pid', t.worker_pid,
         'created_at', t.created_at, 'scheduled_at', t.scheduled_at, 'started_at', t.process_start_at,
         'completed_at', t.completed_at,
         'attempts', (select pg_catalog.jsonb_agg(
                               pg_catalog.jsonb_build_object('state', a.state, 'worker_pid', a.worker_pid,
                                                             'started_at', a.started_at, 'error', a.error)
                               order by a.ended_at, a.attempt)
                        from worker.attempt as a
                       where a.task_id operator(pg_catalog.=) t.id)
       )::pg_catalog.text
  from worker.tasks as t
 where t.id operator(pg_catalog.=) %s::pg_catalog.text::bigint
