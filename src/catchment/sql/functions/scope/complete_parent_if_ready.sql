-- complete_parent_if_ready: close the scope of this child's parent if it is ready, and return whether the parent has
-- settled. Settling a child does this automatically; the function is for a scope that was left open by a manual change,
-- and may be called repeatedly.
--
--   locks   scope rows deepest first; then lanes and ready rows
--   plan    walk
create or replace function worker.complete_parent_if_ready(child_id bigint)
  returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope worker.scope;
begin
  select s.* into v_scope
    from worker.task as t
    join worker.scope as s on s.id = t.parent_id
   where t.id = child_id
     for no key update of s;
  if not found then
    return false;
  end if;
  if v_scope.state = 'waiting' and v_scope.open_children = 0 and not v_scope.is_joining then
    perform worker.follow_through(worker.close_scopes(array[v_scope]));
    select s.* into v_scope from worker.scope as s where s.id = v_scope.id;
  end if;
  return v_scope.state <> 'waiting';
end;
$$;
