-- enter_task: this transaction now runs the handler of that task. It takes the lock of this backend for the transaction
-- as well, so that a handler that releases all advisory locks of its session is not taken for dead.
--
--   session reads worker.backend, sets worker.task_id
create or replace function worker.enter_task(p_task_id bigint)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config('worker.task_id', p_task_id::text, true),
          pg_try_advisory_xact_lock(currval('worker.backend'));
end;
$$;
