-- enter_batched: whether a claimed task may run now in the transaction of others: its command allows it and is brief,
-- there is time, nothing has been cancelled meanwhile, and no handler has made temporary tables, which may live as long
-- as a transaction. If so, this transaction runs its handler from here on. The first one of a batch takes the lock of
-- this backend, as enter_task does.
--
--   session reads worker.backend, sets worker.task_id
create or replace function worker.enter_batched(
  p_task_id     bigint,
  p_is_batched  boolean,
  p_command     text,
  p_pace        jsonb,
  p_ends_at     timestamptz,
  p_is_first    boolean
)
  returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_done text;
begin
  if not p_is_batched
     or not worker.is_brief(p_pace, p_command)
     or clock_timestamp() >= p_ends_at
     or pg_my_temp_schema() <> 0
     or exists (select from worker.cancel_request) then
    return false;
  end if;
  v_done := set_config('worker.task_id', p_task_id::text, true);
  if p_is_first then
    v_done := pg_try_advisory_xact_lock(currval('worker.backend'));
  end if;
  return true;
end;
$$;
