-- write_outcomes: append the outcome of the attempts that end their task. A join ends the scope of its task.
--
--   locks   scope rows of ended joins
create or replace function worker.write_outcomes(p_ended worker.ended[])
  returns worker.settled[]
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now     timestamptz := worker.now();
  v_settled worker.settled[];
  v_joined  worker.settled[];
begin
  insert into worker.outcome (id, state, attempt, worker_pid, started_at, stopped_at, completed_at, error, info, result,
                              parent_id)
  select (e.run).id, e.fate, (e.run).attempt, (e.run).worker_pid, (e.run).started_at, v_now, v_now, e.error, e.info,
         e.result, case when e.fate <> 'completed' then (e.run).parent_id end
    from unnest(p_ended) as e
   where e.fate in ('completed', 'failed', 'cancelled')
     and (e.run).phase = 0;

  select array_agg(worker.settled_task(
           p_id => (e.run).id, p_state => e.fate, p_command => (e.run).command, p_parent_id => (e.run).parent_id,
           p_depth => (e.run).depth, p_queue_id => (e.run).queue_id, p_lane => (e.run).lane, p_place => (e.run).place,
           p_has_info => e.info is not null, p_has_after => (e.run).has_after, p_has_merged => (e.run).has_merged,
           p_has_follow_up => (e.run).has_follow_up))
    into v_settled
    from unnest(p_ended) as e
   where e.fate in ('completed', 'failed', 'cancelled')
     and (e.run).phase = 0;

  if exists (select from unnest(p_ended) as e where (e.run).phase = 1) then
    v_joined := worker.end_joins(p_ended);
  end if;
  return v_settled || v_joined;
end;
$$;
