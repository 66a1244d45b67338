-- hold_pending: lock the ready or blocked row of a task that has never been tried, and give it another priority.
--
--   returns ready, or the reason why it is blocked
--   locks   its ready or blocked row; waits for it
--   raises  CM007 worker.tasks does not accept this write
create or replace function worker.hold_pending(
  p_task_id   bigint,
  p_priority  integer
)
  returns text
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_reason text;
begin
  -- It may move from one table to the other between two looks, so look until it is found.
  loop
    update worker.ready as r set band = p_priority where r.id = p_task_id and r.attempt = 0 and r.phase = 0;
    if found then
      return 'ready';
    end if;
    update worker.blocked as b
       set band = p_priority
     where b.id = p_task_id and b.attempt = 0 and b.reason <> 'merged'
    returning b.reason into v_reason;
    if found then
      return v_reason;
    end if;
    if not exists (select from worker.ready as r where r.id = p_task_id and r.attempt = 0 and r.phase = 0)
       and not exists (select from worker.blocked as b where b.id = p_task_id and b.attempt = 0
                          and b.reason <> 'merged') then
      raise exception using
        errcode = 'CM007',
        message = format('task %s has been tried or has started: its payload, priority and due time are fixed',
                         p_task_id),
        hint = 'Cancel it and enqueue another.';
    end if;
  end loop;
end;
$$;
