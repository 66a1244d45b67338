-- explain_running: which worker runs the task, since when, and its last sign of life. See explain.
create or replace function worker.explain_running(
  p_task_id  bigint,
  p_now      timestamptz
)
  returns setof worker.condition
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select 'running', false,
         jsonb_strip_nulls(jsonb_build_object(
           'since', r.started_at, 'attempt', r.attempt, 'deadline_at', r.deadline_at, 'progress', r.progress,
           'is_join', r.phase = 1, 'session_pid', r.worker_pid,
           'worker', jsonb_build_object('id', r.worker_id, 'name', w.name, 'pid', w.pid, 'version', w.version,
                                        'seen_at', w.seen_at, 'lease_until', w.lease_until))),
         format('%s has been running its %s since %s%s%s%s.',
                case
                  when w.worker_id is not null
                    then format('Worker %s (%s%s%s)', w.worker_id, w.name, coalesce(', pid ' || w.pid, ''),
                                coalesce(', session ' || r.worker_pid, ''))
                  when r.worker_id is not null then format('Worker %s, which is gone,', r.worker_id)
                  else 'Session ' || r.worker_pid
                end,
                case r.phase when 1 then 'join' else 'handler' end,
                worker.said_when(r.started_at, p_now),
                case when w.lease_until < p_now then ', but its lease has ended' else '' end,
                coalesce('; its last heartbeat was ' || worker.said_span(p_now - w.seen_at) || ' ago', ''),
                case when jsonb_typeof(r.progress -> 'done') = 'number'
                      and jsonb_typeof(r.progress -> 'total') = 'number'
                  then format('; %s of %s done', r.progress ->> 'done', r.progress ->> 'total') else '' end),
         case when w.worker_id is null and r.backend_key is null or w.lease_until < p_now
           then worker.shell_command('catchment psql -c', 'select worker.reset_abandoned_processing_tasks()') end
    from worker.running as r
    left join worker.worker as w on w.worker_id = r.worker_id
   where r.id = p_task_id;
$$;
