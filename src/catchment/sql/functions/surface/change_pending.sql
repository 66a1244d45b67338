-- change_pending: another payload, priority or due time for a task that has never been tried. Put off, it leaves its lane or its
-- serial line, which goes on without it; it enters again when it is due.
--
--   locks   the scope row of its parent or its lane row if it is put off; then its ready or blocked row
--   raises  CM004 bad payload, CM007 when the task has been tried or has started
create or replace function worker.change_pending(
  p_task_id       bigint,
  p_payload       jsonb,
  p_priority      integer,
  p_scheduled_at  timestamptz
)
  returns void
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set jit = off
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set enable_sort = off
as $$
declare
  v_task    worker.task;
  v_command worker.command_registry;
  v_now     timestamptz := worker.now();
  v_later   boolean := coalesce(p_scheduled_at > v_now, false);
begin
  select t.* into v_task from worker.task as t where t.id = p_task_id;
  select c.* into v_command from worker.command_registry as c where c.command = v_task.command;
  if v_later then
    perform s.id from worker.scope as s where s.id = v_task.parent_id for no key update;
    perform l.lane
       from worker.lane as l
      where l.queue_id = v_task.queue_id and l.lane in ('', v_task.lane) and v_task.parent_id is null
      order by l.lane
        for update;
  end if;

  update worker.ready as r set band = p_priority where r.id = p_task_id and r.attempt = 0 and r.phase = 0;
  if found and v_later then
    perform worker.put_off(v_task, p_scheduled_at);
  elsif not found then
    update worker.blocked as b
       set band    = p_priority,
           reason  = case when v_later and b.reason in ('lane', 'serial') then 'scheduled' else b.reason end,
           wait_id = case when v_later and b.reason = 'serial' then null else b.wait_id end,
           due_at  = case
                       when b.reason = 'scheduled'                          then coalesce(p_scheduled_at, v_now)
                       when v_later and b.reason in ('lane', 'serial')      then p_scheduled_at
                     end
     where b.id = p_task_id and b.attempt = 0 and b.reason <> 'merged';
    if not found then
      raise exception using
        errcode = 'CM007',
        message = format('task %s has been tried or has started: its payload, priority and due time are fixed', p_task_id),
        hint = 'Cancel it and enqueue another.';
    end if;
  end if;

  update worker.task as t
     set payload      = worker.check_payload(t.command, p_payload),
         priority     = p_priority,
         scheduled_at = p_scheduled_at
   where t.id = p_task_id;
  if v_task.dedup_key is not null then
    perform worker.merge_payload(v_command.merge, p_payload, p_payload);
    delete from worker.pending_key as k where k.dedup_key = v_task.dedup_key and k.id = p_task_id;
    update worker.task as t
       set dedup_key = worker.dedup_key(v_command.dedup, t.command, t.lane, t.parent_id, t.payload)
     where t.id = p_task_id;
    insert into worker.pending_key (dedup_key, id) select t.dedup_key, t.id from worker.task as t where t.id = p_task_id;
  end if;
end;
$$;
