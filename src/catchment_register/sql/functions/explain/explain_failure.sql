-- explain_failure: the root cause of the last broken round: the step that failed first. Blocking, unless a new round
-- works on it. See explain.
create or replace function register.explain_failure(
  p_is_blocking  boolean,
  p_now          timestamptz
)
  returns setof worker.condition
  language sql stable security definer set search_path = pg_catalog, pg_temp
as $$
  select 'failed', p_is_blocking,
         jsonb_strip_nulls(jsonb_build_object(
           'round', f.round_id, 'task_id', f.task_id, 'command', f.command, 'at', f.failed_at, 'failures', f.failures,
           'next_try', f.next_try)),
         format('%s failed in %s (task %s) at %s%s, and returned its changes to the log%s.',
                coalesce('Round ' || f.round_id, 'A collection'), f.command, f.task_id,
                worker.said_when(f.failed_at, p_now),
                case when f.failures > 1 then format(', which is failure %s in a row', f.failures) else '' end,
                coalesce('; the next attempt is at ' || worker.said_when(f.next_try, p_now), '')),
         format('catchment task show %s  # see its error', f.task_id)
    from register.last_failure() as f;
$$;
