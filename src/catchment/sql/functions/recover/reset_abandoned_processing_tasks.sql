-- reset_abandoned_processing_tasks: take over from dead workers: end the backends they left hanging, wait until those
-- are gone, and put their tasks back as interrupted. Runs with the caller's rights, which must allow ending the
-- worker's sessions.
create or replace function worker.reset_abandoned_processing_tasks()
  returns integer
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_dead  bigint[] := worker.mark_dead_workers();
  v_count integer;
begin
  perform worker.signal_backends('hanging', array(select worker.hanging_backends(v_dead)), worker.now());
  v_count := worker.keep_step('interrupt', v_dead);
  perform worker.keep_step('forget', v_dead);
  return v_count;
end;
$$;
