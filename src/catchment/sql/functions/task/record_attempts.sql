-- record_attempts: keep the error of every attempt that did not complete. One that was given back is kept if it says
-- why: its handler had started.
create or replace function worker.record_attempts(p_ended worker.ended[])
  returns void
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  insert into worker.attempt (task_id, attempt, phase, state, is_last, worker_pid, started_at, ended_at, error)
  select (e.run).id, (e.run).attempt, (e.run).phase, case e.fate when 'retry' then 'failed' else e.fate end,
         e.fate in ('failed', 'cancelled'), (e.run).worker_pid, (e.run).started_at, worker.now(), e.error
    from unnest(p_ended) as e
   where e.fate in ('failed', 'cancelled', 'retry', 'interrupted')
      or e.fate = 'released' and e.error ? 'kind';
$$;
