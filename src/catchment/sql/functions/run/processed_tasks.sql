-- processed_tasks: what last_processed says of tasks, up to p_most of them.
create or replace function worker.processed_tasks(
  p_runs    worker.sql_run[],
  p_asked   text[],
  p_states  text[],
  p_errors  jsonb[],
  p_again   interval[],
  p_took    interval[],
  p_most    integer
)
  returns jsonb
  language sql stable set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_agg(jsonb_build_object(
           'id', (p_runs[i]).id, 'command', (p_runs[i]).command,
           'state', case when p_asked[i] = 'snoozed' and p_states[i] = 'pending' then 'snoozed' else p_states[i] end,
           'is_join', (p_runs[i]).is_join, 'attempt', (p_runs[i]).attempt, 'error', p_errors[i] ->> 'message',
           'failures', case when p_errors[i] is not null and p_asked[i] = 'failed' then (p_runs[i]).failures + 1 end,
           'max_attempts', (p_runs[i]).max_attempts, 'again_in', extract(epoch from p_again[i]),
           'duration_ms', round(1000 * extract(epoch from p_took[i]), 3)) order by i), '[]')
    from generate_series(1, least(cardinality(p_took), p_most)) as i;
$$;
