-- change_pending: another payload, priority or due time for a task that has never been tried.
--
--   locks   its ready or blocked row
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
  set plan_cache_mode = force_generic_plan
  set enable_seqscan = off
  set enable_bitmapscan = off
  set enable_hashjoin = off
  set enable_mergejoin = off
  set enable_sort = off
as $$
declare
  v_task worker.task;
  v_now  timestamptz := worker.now();
begin
  select t.* into v_task from worker.task as t where t.id = p_task_id;
  update worker.ready as r set band = p_priority where r.id = p_task_id and r.attempt = 0 and r.phase = 0;
  if not found then
    update worker.blocked as b
       set band   = p_priority,
           due_at = case when b.reason = 'scheduled' then coalesce(p_scheduled_at, v_now) end
     where b.id = p_task_id and b.attempt = 0 and b.reason <> 'merged';
    if not found then
      raise exception using
        errcode = 'CM007',
        message = format('task %s has been tried or has started: its payload, priority and due time are fixed', p_task_id),
        hint = 'Cancel it and enqueue another.';
    end if;
  elsif p_scheduled_at > v_now then
    with gone as (
      delete from worker.ready as r where r.id = p_task_id returning r.*
    )
    insert into worker.blocked (id, reason, due_at, queue_id, kind, tier, band, rank, place)
    select g.id, 'scheduled', p_scheduled_at, g.queue_id, g.kind, g.tier, g.band, g.rank, g.place from gone as g;
  end if;

  update worker.task as t
     set payload      = worker.check_payload(t.command, p_payload),
         priority     = p_priority,
         scheduled_at = p_scheduled_at
   where t.id = p_task_id;
  if v_task.dedup_key is not null then
    delete from worker.pending_key as k where k.dedup_key = v_task.dedup_key and k.id = p_task_id;
    update worker.task as t
       set dedup_key = worker.dedup_key(c.dedup, t.command, t.lane, t.parent_id, t.payload)
      from worker.command_registry as c
     where t.id = p_task_id and c.command = t.command;
    insert into worker.pending_key (dedup_key, id) select t.dedup_key, t.id from worker.task as t where t.id = p_task_id;
  end if;
end;
$$;
