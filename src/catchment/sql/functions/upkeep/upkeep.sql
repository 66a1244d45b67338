-- upkeep: what keeps the engine tidy while nothing else would: dead workers, cancelled subtrees, deadlines, due tasks. One at a
-- time in a database; whoever comes second has nothing to do. Runs with the caller's rights, which must allow signalling the
-- sessions of workers.
--
--   returns what was done, and whether schedules are due
create or replace function worker.upkeep()
  returns jsonb
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_interrupted integer;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('worker.upkeep', 0)) then
    return '{}';
  end if;
  v_interrupted := worker.reset_abandoned_processing_tasks();
  perform worker.sweep_cancelled();
  perform worker.expire_deadlines();
  perform pg_cancel_backend(s.pid) from unnest(worker.lock_signalled()) as s (pid);
  return jsonb_build_object('interrupted', v_interrupted, 'promoted', worker.promote_due(),
                            'schedules_due', exists (select from worker.due_schedules()));
end;
$$;
