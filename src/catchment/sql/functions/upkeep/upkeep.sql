-- upkeep: what keeps the engine tidy while nothing else would: dead workers, cancelled subtrees, deadlines, due tasks. One at a
-- time in a database; whoever comes second has nothing to do. Runs with the caller's rights, which must allow signalling the
-- sessions of workers.
--
--   returns what was done, whether schedules are due, and which of the tables that claims read are full of dead rows
create or replace function worker.upkeep()
  returns jsonb
  language plpgsql
  set search_path = pg_catalog, pg_temp
as $$
declare
  c_hot  constant text[] := '{ready,running,blocked,arrival,lane,pending_key}';
  c_dead constant integer := 5000;
  v_interrupted integer;
begin
  if not worker.take_turn('upkeep') then
    return '{}';
  end if;
  v_interrupted := worker.reset_abandoned_processing_tasks();
  perform worker.sweep_cancelled();
  perform worker.expire_deadlines();
  perform worker.let_in();
  perform worker.rouse_limited();
  perform pg_cancel_backend(s.pid) from unnest(worker.lock_signalled()) as s (pid);
  return jsonb_build_object('interrupted', v_interrupted, 'promoted', worker.promote_due(),
                            'schedules_due', exists (select from worker.due_schedules()),
                            'bloated', array(select n.name
                                               from unnest(c_hot) as n (name)
                                              where pg_stat_get_dead_tuples(to_regclass('worker.' || n.name)) > c_dead));
end;
$$;
