-- explain_tick: what keeps the schedule of dynamic tables from running: it is disabled, or its last task failed, or
-- waits. See explain.
create or replace function lake.explain_tick(
  p_due_at  timestamptz,
  p_now     timestamptz
)
  returns setof worker.condition
  language plpgsql stable set search_path = pg_catalog, pg_temp
as $$
declare
  v_tick     worker.schedule;
  v_standing jsonb;
begin
  select s.* into v_tick from worker.schedule as s where s.name = 'lake_tick';
  if v_tick.enabled is not true then
    return next ('no_schedule', true, '{}', 'Schedule lake_tick, which opens rounds, is disabled.',
                 worker.shell_command('catchment psql -c', 'select lake.set_tick()'))::worker.condition;
    return;
  end if;
  v_standing := worker.standing(v_tick.last_task_id);
  if v_standing ->> 'state' = 'failed' then
    return next ('tick_failed', true, jsonb_build_object('task', v_standing),
                 format('The last run of schedule lake_tick, which opens rounds, failed: task %s, at %s.',
                        v_tick.last_task_id, worker.said_when((v_standing ->> 'since')::timestamptz, p_now)),
                 'catchment task show ' || v_tick.last_task_id)::worker.condition;
  elsif p_due_at <= p_now and v_standing ->> 'state' not in ('completed', 'cancelled') then
    return query
      select c.kind, true, c.evidence || jsonb_build_object('task', v_standing), c.words, c.remedy
        from worker.explain(v_tick.last_task_id) as c
       where c.is_blocking
         and c.kind not in ('no_worker', 'no_command');
  end if;
end;
$$;
