-- enter_task: from here on this transaction is the handler of that task. The lock of this backend belongs to the transaction too:
-- a handler that gives up all advisory locks of its session is not taken for a death.
create or replace function worker.enter_task(
  p_task_id  bigint
)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('worker.task_id', p_task_id::text, true),
          pg_try_advisory_xact_lock(currval('worker.backend'));
end;
$$;
