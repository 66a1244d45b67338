-- is_cancelling: whether a task that has not started, or one above it, was asked to stop. cancel marks the scope of its
-- own task alone, so the scopes of all above are looked at; the task has one itself when it waits for its join to
-- start. Claims ask while any cancel request is open.
create or replace function worker.is_cancelling(p_task_id bigint)
  returns boolean
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_id     bigint;
  v_reason text;
begin
  select t.parent_id, s.cancel_reason into v_id, v_reason
    from worker.task as t
    left join worker.scope as s on s.id = t.id and s.state = 'waiting'
   where t.id = p_task_id;
  while v_reason is null and v_id is not null loop
    select s.parent_id, s.cancel_reason into v_id, v_reason from worker.scope as s where s.id = v_id;
  end loop;
  return v_reason is not null;
end;
$$;
