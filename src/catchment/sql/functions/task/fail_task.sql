-- fail_task: fail an attempt. The task is retried while it has attempts left; the error is stored in either case.
-- p_error is an object with kind and message; retryable false ends the retries, retry_after sets the delay.
--
--   processing -> failed | pending | cancelled
--   locks   see settle
--   raises  CM001 the claim was lost
create or replace function worker.fail_task(
  p_task_id  bigint,
  p_fence    bigint,
  p_error    jsonb
)
  returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_state text;
begin
  select s.state into v_state from worker.settle(array[p_task_id], array[p_fence], array['failed'],
                                                 array[p_error]) as s;
  if not found then
    perform worker.raise_fenced(p_task_id, p_fence);
  end if;
  return v_state;
end;
$$;
