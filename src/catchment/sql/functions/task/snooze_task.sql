-- snooze_task: end an attempt without a result: its task is pending again at that time. The attempt has been started
-- and has not failed: max_attempts is untouched. The task keeps its place, and its lane stays held.
--
--   processing -> pending
--   locks   see settle
--   raises  CM001 the claim was lost; CM040 the time to sleep is invalid
create or replace function worker.snooze_task(
  p_task_id  bigint,
  p_fence    bigint,
  p_until    timestamptz,
  p_reason   text default null
)
  returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_state text;
begin
  perform worker.check_snooze(p_until);
  select s.state into v_state
    from worker.settle(array[p_task_id], array[p_fence], array['snoozed'],
                       array[jsonb_build_object('until', p_until, 'message', p_reason)]) as s;
  if not found then
    perform worker.raise_fenced(p_task_id, p_fence);
  end if;
  return v_state;
end;
$$;
