-- enter_again: make room for a retried task: its halted lane continues with it, its open parent counts it again, and
-- what was folded into it shares its fate again.
--
--   locks   the parent's scope row; the lane row
--   raises  CM008 the task cannot be retried
create or replace function worker.enter_again(p_task worker.task)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_state text := (select o.state from worker.outcome as o where o.id = p_task.id);
  v_count integer := 1 + worker.hold_merged(p_task.id);
  v_head  bigint;
begin
  if p_task.parent_id is not null then
    update worker.scope as s
       set open_children      = s.open_children + v_count,
           failed_children    = s.failed_children - case v_state when 'failed' then v_count else 0 end,
           cancelled_children = s.cancelled_children - case v_state when 'cancelled' then v_count else 0 end
     where s.id = p_task.parent_id
       and s.state = 'waiting'
       and s.cancel_reason is null
       and not s.is_joining
       and s.child_mode = 'concurrent';
    if not found then
      raise exception using
        errcode = 'CM008',
        message = format('task %s is a child of task %s, whose scope takes no single retry', p_task.id,
                         p_task.parent_id),
        hint = worker.retry_hint(p_task.parent_id);
    end if;
    return;
  end if;

  update worker.lane as l
     set halted_at = null
   where l.queue_id = p_task.queue_id
     and l.lane = coalesce(p_task.lane, '')
     and l.head_id = p_task.id;

  if exists (select from worker.scope as s where s.id = p_task.id) then
    -- A waiting task holds its lane, and its queue if that is serial, so these must be free or its own.
    for v_head in
      insert into worker.lane (queue_id, lane, head_id, first_place, last_place)
      select p_task.queue_id, k.lane, p_task.id, p_task.place, p_task.place
        from worker.queue_registry as q
       cross join (select '' as lane union select p_task.lane) as k
       where q.queue_id = p_task.queue_id
         and (k.lane <> '' or k.lane = '' and q.mode = 'serial')
       order by k.lane
      on conflict (queue_id, lane) do update
         set head_id = coalesce(worker.lane.head_id, excluded.head_id)
      returning head_id
    loop
      if v_head <> p_task.id then
        raise exception using
          errcode = 'CM008',
          message = format('the lane of task %s is busy with task %s', p_task.id, v_head),
          hint = 'A retried scope holds its lane while it waits: pause the queue, let that task settle, then retry.';
      end if;
    end loop;
  end if;
end;
$$;
