-- reset_abandoned_processing_tasks: take over from dead workers: end the backends they left hanging, wait until those are gone,
-- and put their tasks back as interrupted. Runs with the caller's rights, which must allow ending the worker's sessions.
create or replace function worker.reset_abandoned_processing_tasks()
  returns integer
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_dead bigint[] := worker.mark_dead_workers();
begin
  perform pg_terminate_backend(h.pid, 5000) from worker.hanging_backends(v_dead) as h (pid);
  return worker.interrupt_abandoned(v_dead);
end;
$$;
