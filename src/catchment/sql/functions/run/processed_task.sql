-- processed_task: a row of last_processed.
create or replace function worker.processed_task(
  p_run    worker.sql_run,
  p_asked  text,
  p_state  text,
  p_error  jsonb,
  p_again  interval,
  p_took   interval
)
  returns jsonb
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
begin
  return jsonb_build_object(
           'id', p_run.id, 'command', p_run.command,
           'state', case when p_asked = 'snoozed' and p_state = 'pending' then p_asked else p_state end,
           'is_join', p_run.is_join, 'attempt', p_run.attempt, 'error', p_error ->> 'message',
           'failures', case when p_error is not null and p_asked = 'failed' then p_run.failures + 1 end,
           'max_attempts', p_run.max_attempts, 'again_in', extract(epoch from p_again),
           'duration_ms', round(1000 * extract(epoch from p_took), 3));
end;
$$;
