-- refuse_if_cancelled: stop a spawn into a subtree that is being cancelled. The shared lock on each ancestor makes
-- cancel wait for this transaction or this transaction see the mark; counters of the ancestors stay writable meanwhile.
--
--   locks   scope rows from p_scope_id up to the root, shared, deepest first
--   raises  CM011 the task is being cancelled
create or replace function worker.refuse_if_cancelled(p_scope_id bigint)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_id     bigint := p_scope_id;
  v_reason text;
  v_parent bigint;
begin
  while v_id is not null loop
    select s.parent_id, s.cancel_reason into v_parent, v_reason from worker.scope as s where s.id = v_id for key share;
    if v_reason is not null then
      raise exception using errcode = 'CM011', message = format('task %s is being cancelled: %s', v_id, v_reason);
    end if;
    v_id := v_parent;
  end loop;
end;
$$;
