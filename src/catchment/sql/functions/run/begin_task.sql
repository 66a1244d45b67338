-- begin_task: claim one task with a SQL handler for this backend. With p_sweeps, cancel requests are carried out first,
-- so that nothing under a cancelled task is claimed here; if there are any, this is all that it does: what a sweep
-- locks and what a claim locks do not fit into one order, so the caller commits between them.
--
--   pending | interrupted -> processing
--   returns the task; one with id 0 after a sweep, to be asked again without p_sweeps; null when there is none
--   locks   see sweep_cancelled, or let_in and then claim of one queue after another by name
--   session reads worker.backend, worker.worker_id
--   plan    probe
create or replace function worker.begin_task(
  p_queue         text,
  p_tier          integer,
  p_max_priority  integer,
  p_sweeps        boolean default false
)
  returns worker.sql_run
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_now         timestamptz := worker.now();
  v_key         bigint := currval('worker.backend');
  v_is_due      boolean;
  v_has_arrived boolean;
  v_has_gates   boolean;
  v_queue_id    integer;
  v_claimed     worker.claimed;
  v_command     worker.command_registry;
  v_before      text;
  v_run         worker.sql_run;
begin
  if p_sweeps and exists (select from worker.cancel_request) then
    perform worker.sweep_cancelled();
    v_run.id := 0;
    return v_run;
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
  for v_queue_id in
    select q.queue_id from worker.queue_registry as q where p_queue is null or q.queue = p_queue order by q.queue
  loop
    select c.* into v_claimed
      from worker.claim(v_queue_id, 's', p_tier, 1, p_max_priority,
                        nullif(current_setting('worker.worker_id', true), '')::bigint,
                        v_key) as c;
    exit when v_claimed.id is not null;
  end loop;
  if v_claimed.id is null then
    return null;
  end if;

  select c.* into v_command from worker.command_registry as c where c.command = v_claimed.command;
  if v_claimed.phase = 0 and v_command.before_procedure is not null then
    v_before := worker.call_text(v_command.before_procedure, 1);
    if v_before is null then
      perform worker.record_warning(v_claimed.id, 'before',
                                    format('procedure %s does not exist', v_command.before_procedure));
    end if;
  end if;
  return (v_claimed.id, v_claimed.fence, v_claimed.command, v_claimed.payload,
          case v_claimed.phase when 1 then v_command.join_signature else v_command.handler_signature end,
          case v_claimed.phase when 1 then v_command.join_procedure else v_command.handler_procedure end,
          v_claimed.phase = 1, v_before, v_claimed.attempt, v_claimed.failures, v_claimed.max_attempts)::worker.sql_run;
end;
$$;
