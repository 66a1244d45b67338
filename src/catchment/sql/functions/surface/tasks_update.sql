-- tasks_update: UPDATE worker.tasks changes what a never-tried task will do, cancels (state cancelled) or retries
-- (pending).
--
--   locks   the task's ready or blocked row
--   raises  CM007 worker.tasks does not accept this write
create or replace function worker.tasks_update()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_old jsonb := to_jsonb(old) - '{payload,priority,scheduled_at,state}'::text[];
  v_new jsonb := to_jsonb(new) - '{payload,priority,scheduled_at,state}'::text[];
begin
  if v_old <> v_new or (new.state <> old.state and new.state not in ('cancelled', 'pending')) or new.state is null then
    raise exception using
      errcode = 'CM007',
      message = format('task %s: UPDATE worker.tasks may change payload, priority and scheduled_at, or set state to '
                       'cancelled or pending', old.id),
      hint = 'Workers use worker.complete_task, worker.fail_task and worker.release_task.';
  end if;
  if (new.payload, new.priority, new.scheduled_at) is distinct from (old.payload, old.priority, old.scheduled_at) then
    perform worker.change_pending(old.id, new.payload, new.priority, new.scheduled_at);
  end if;
  if new.state <> old.state then
    if new.state = 'cancelled' then
      perform worker.cancel(old.id);
    else
      perform worker.retry(old.id);
    end if;
  end if;
  return new;
end;
$$;
