-- change_pending: change the payload, priority or due time of a task that has never been attempted. A postponed task
-- leaves its lane, its serial line or its limit, which continue without it; it enters again when it is due. With a
-- payload that comes under another limit it waits at that one.
--
--   locks   the scope row of its parent or its lane row if it may leave them; its ready or blocked row; then its gate
--           row if it is free
--   raises  CM004 the payload cannot be stored; CM007 worker.tasks does not accept this write; CM018 an option has an
--           invalid value
--   plan    walk
create or replace function worker.change_pending(
  p_task_id       bigint,
  p_payload       jsonb,
  p_priority      integer,
  p_scheduled_at  timestamptz
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_old     worker.task;
  v_new     worker.task;
  v_command worker.command_registry;
  v_now     timestamptz := worker.now();
  v_due_at  timestamptz := case when p_scheduled_at > v_now then p_scheduled_at end;
  v_reason  text;
begin
  perform worker.check_time(p_scheduled_at);
  select t.* into v_old from worker.task as t where t.id = p_task_id;
  select c.* into v_command from worker.command_registry as c where c.command = v_old.command;
  if v_due_at is not null or v_old.gate is not null then
    perform s.id from worker.scope as s where s.id = v_old.parent_id for no key update;
    perform l.lane
       from worker.lane as l
      where l.queue_id = v_old.queue_id and l.lane in ('', v_old.lane) and v_old.parent_id is null
      order by l.lane
        for update;
  end if;
  v_reason := worker.hold_pending(p_task_id, p_priority);

  -- Its row is ours: nobody else changes it now.
  select t.* into v_old from worker.task as t where t.id = p_task_id;
  v_new := v_old;
  v_new.payload := worker.check_payload(v_old.command, p_payload);
  v_new.priority := p_priority;
  v_new.scheduled_at := p_scheduled_at;
  if v_old.gate is not null then
    v_new.gate := coalesce(worker.gate_of(v_command, v_new.payload), v_old.gate);
  end if;
  if v_old.dedup_key is not null then
    perform worker.merge_payload(v_command.merge, v_new.payload, v_new.payload);
    v_new.dedup_key := worker.dedup_key(v_command.dedup, v_old.command, v_old.lane, v_old.parent_id, v_new.payload);
    delete from worker.pending_key as k where k.dedup_key = v_old.dedup_key and k.id = p_task_id;
    insert into worker.pending_key (dedup_key, id) values (v_new.dedup_key, p_task_id);
  end if;
  update worker.task as t
     set payload      = v_new.payload,
         priority     = v_new.priority,
         scheduled_at = v_new.scheduled_at,
         gate         = v_new.gate,
         dedup_key    = v_new.dedup_key
   where t.id = p_task_id;

  if v_reason in ('ready', 'retry') and (v_due_at is not null or v_new.gate <> v_old.gate) then
    perform worker.put_off(v_old, v_due_at, v_new.gate);
  elsif v_reason = 'scheduled' or v_due_at is not null and v_reason in ('lane', 'serial', 'limit') then
    update worker.blocked as b
       set reason  = 'scheduled',
           wait_id = null,
           due_at  = coalesce(p_scheduled_at, v_now),
           lane    = v_old.lane
     where b.id = p_task_id;
  elsif v_reason = 'limit' and v_new.gate <> v_old.gate then
    update worker.blocked as b set lane = v_new.gate where b.id = p_task_id;
    insert into worker.gate_arrival (gate, command) values (v_new.gate, v_new.command);
  end if;
  if v_reason in ('scheduled', 'limit') and v_due_at is null then
    perform worker.wake(array[v_old.queue_id], case when v_old.parent_id is null then 1 else 0 end);
  end if;
end;
$$;
