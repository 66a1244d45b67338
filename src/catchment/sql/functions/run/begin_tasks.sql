-- begin_tasks: claim up to p_limit tasks with SQL handlers for this backend, all of one queue; one if that is limited.
-- With p_sweeps, cancel requests are carried out first, so that nothing under a cancelled task is claimed here; if
-- there are any, this is all that it does: what a sweep locks and what a claim locks do not fit into one order, so the
-- caller commits between them.
--
--   pending | interrupted -> processing
--   returns the tasks in order; one with id 0 after a sweep, to be asked again without p_sweeps; nothing if there are
--           none
--   locks   see sweep_cancelled, or let_in and then claim of one queue after another by name
--   session reads worker.backend, worker.worker_id, sets worker.batch
--   plan    probe
create or replace function worker.begin_tasks(
  p_queue         text,
  p_tier          integer,
  p_max_priority  integer,
  p_sweeps        boolean default false,
  p_limit         integer default 1
)
  returns setof worker.sql_run
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now         timestamptz := worker.now();
  v_key         bigint := currval('worker.backend');
  v_is_due      boolean;
  v_has_arrived boolean;
  v_has_gates   boolean;
  v_queue       worker.queue_registry;
  v_claimed     worker.claimed[];
  v_one         worker.claimed;
  v_command     worker.command_registry;
  v_run         worker.sql_run;
  v_before      text;
begin
  if p_sweeps and exists (select from worker.cancel_request) then
    perform worker.sweep_cancelled();
    v_run.id := 0;
    return next v_run;
    return;
  end if;
  select exists (select from worker.blocked as b where b.due_at <= v_now),
         exists (select from worker.arrival),
         exists (select from worker.gate_arrival) or exists (select from worker.gate as g where g.next_at <= v_now)
    into v_is_due, v_has_arrived, v_has_gates;
  if v_is_due or v_has_arrived or v_has_gates then
    perform worker.let_in(case when p_queue is not null then array[p_queue] end, v_is_due, v_has_arrived, v_has_gates);
  end if;
  if not pg_try_advisory_lock(v_key) then -- the last handler gave it up, and a stranger took it
    v_key := worker.hold_backend_lock();
  end if;
  for v_queue in
    select q.* from worker.queue_registry as q where p_queue is null or q.queue = p_queue order by q.queue
  loop
    v_claimed := array(
      select c
        from worker.claim(v_queue.queue_id, 's', p_tier,
                          case when v_queue.max_running is null and v_queue.rate is null then p_limit else 1 end,
                          p_max_priority, nullif(current_setting('worker.worker_id', true), '')::bigint,
                          v_key) as c);
    exit when cardinality(v_claimed) > 0;
  end loop;
  if coalesce(cardinality(v_claimed), 0) = 0 then
    return;
  end if;

  perform setval('worker.batch', (select min(c.fence) from unnest(v_claimed) as c));
  if cardinality(v_claimed) = 1 and v_claimed[1].before_procedure is not null then
    v_before := worker.call_text(v_claimed[1].before_procedure, 1);
    if v_before is null then
      perform worker.record_warning(v_claimed[1].id, 'before',
                                    format('procedure %s does not exist', v_claimed[1].before_procedure));
    end if;
  end if;
  foreach v_one in array v_claimed loop
    if v_one.command is distinct from v_command.command then
      select c.* into v_command from worker.command_registry as c where c.command = v_one.command;
    end if;
    return next (v_one.id, v_one.fence, v_one.command, v_one.payload,
                 case v_one.phase when 1 then v_command.join_signature else v_command.handler_signature end,
                 case v_one.phase when 1 then v_command.join_procedure else v_command.handler_procedure end,
                 v_one.phase = 1, v_before, v_one.attempt, v_one.failures, v_one.max_attempts,
                 coalesce(v_command.is_batched and v_one.phase = 0 and v_one.attempt = 1
                          and v_one.before_procedure is null and v_command.limit_key is null, false))::worker.sql_run;
  end loop;
end;
$$;
