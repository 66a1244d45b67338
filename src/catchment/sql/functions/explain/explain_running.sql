-- explain_running: which worker runs the task, since when, its last sign of life, and the sessions that hold a lock for
-- which its handler waits. Of sessions of other users, only their number and their program are known. See explain.
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
           'is_join', r.phase = 1, 'session_pid', r.worker_pid, 'blocked_by', l.pids,
           'worker', jsonb_build_object('id', r.worker_id, 'name', w.name, 'pid', w.pid, 'version', w.version,
                                        'seen_at', w.seen_at, 'lease_until', w.lease_until))),
         format('%s has been running its %s since %s%s%s%s%s.',
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
                  then format('; %s of %s done', r.progress ->> 'done', r.progress ->> 'total') else '' end,
                '; it waits for a lock that is held by ' || l.words),
         case when w.worker_id is null and r.backend_key is null or w.lease_until < p_now
           then worker.shell_command('catchment psql -c', 'select worker.reset_abandoned_processing_tasks()') end
    from worker.running as r
    left join worker.worker as w on w.worker_id = r.worker_id
    left join lateral (
      select jsonb_agg(b.pid order by b.pid) as pids,
             string_agg(format('session %s (%s)', b.pid,
                               concat_ws(', ', coalesce(nullif(a.application_name, ''), 'no application name'),
                                         a.state)), ' and ' order by b.pid) as words
        from unnest(pg_blocking_pids(r.worker_pid)) as b (pid)
        left join pg_stat_activity as a on a.pid = b.pid
    ) as l on r.worker_pid is not null
   where r.id = p_task_id;
$$;
