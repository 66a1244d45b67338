-- keep_engine: the steps of upkeep, in order. Runs with the caller's rights.
--
--   locks   see do_step
create or replace function worker.keep_engine()
  returns jsonb
  language plpgsql set search_path = pg_catalog, pg_temp
as $$
declare
  v_began       timestamptz := worker.now();
  v_dead        bigint[] := worker.find_dead();
  v_interrupted bigint;
  v_promoted    bigint;
  v_fired       jsonb;
  v_skipped     jsonb;
begin
  perform worker.retry_troubles(v_dead);
  perform worker.signal_backends('hanging', worker.backends_to_signal('hanging', v_dead), v_began);
  v_interrupted := worker.keep_step('interrupt', v_dead);
  perform worker.keep_step('forget', v_dead);
  perform worker.keep_step('cancel');
  perform worker.keep_step('deadline');
  v_promoted := worker.keep_step('due');
  perform worker.keep_step('lane');
  perform worker.keep_step('gate');
  perform worker.keep_step('rouse');
  perform worker.signal_backends('signal', worker.backends_to_signal('signal', v_dead), v_began);
  if worker.keep_step('schedule') > 0 then
    select jsonb_agg(jsonb_build_object('schedule', s.name, 'id', s.last_task_id, 'next_at', s.next_at)) into v_fired
      from worker.schedule as s
     where s.last_at >= v_began;
  end if;
  select jsonb_agg(jsonb_build_object('schedule', s.name, 'policy', r.fate, 'due_at', r.due_at, 'next_at', s.next_at))
    into v_skipped
    from worker.schedule as s
    join worker.schedule_run as r on r.schedule = s.name and r.n = s.runs
   where r.at >= v_began
     and r.task_id is null;
  return jsonb_strip_nulls(jsonb_build_object('interrupted', v_interrupted, 'promoted', v_promoted, 'fired', v_fired,
                                              'skipped', v_skipped, 'troubles', worker.new_troubles(v_began)));
end;
$$;
