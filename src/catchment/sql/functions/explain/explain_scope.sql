-- explain_scope: the task waits for its children, or they have completed and its join is next. An open child is looked
-- for from the oldest; in a large scope, in which children settle in order, more or less, by halving. See explain.
create or replace function worker.explain_scope(
  p_task_id  bigint,
  p_now      timestamptz
)
  returns setof worker.condition
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  c_most constant integer := 1000;
  v_scope  worker.scope;
  v_open   bigint;
  v_failed bigint;
begin
  select s.* into v_scope from worker.scope as s where s.id = p_task_id;
  if v_scope.is_joining then
    return next ('join', false, jsonb_build_object('total', v_scope.total_children),
                 format('%s completed; its join is next.',
                        case v_scope.total_children when 1 then 'Its child has'
                          else format('Its %s children have', v_scope.total_children) end),
                 null)::worker.condition;
    return;
  end if;
  v_open := worker.open_child(p_task_id, v_scope.total_children, c_most);
  if v_scope.failed_children > 0 then
    select o.id into v_failed
      from worker.outcome as o
     where o.parent_id = p_task_id and o.state <> 'completed' and o.state = 'failed'
     order by o.id
     limit 1;
  end if;
  return query
    select 'children', true,
           jsonb_strip_nulls(jsonb_build_object(
             'open', v_scope.open_children, 'total', v_scope.total_children, 'failed', v_scope.failed_children,
             'cancelled', v_scope.cancelled_children, 'child_mode', v_scope.child_mode, 'task', s.standing,
             'is_oldest', v_scope.total_children <= c_most, 'failed_first', v_failed, 'since', v_scope.stopped_at)),
           case
             when v_scope.open_children = 0 then 'Its children have settled; it settles at the next upkeep.'
             else format('It waits for %s of %s%s%s.', v_scope.open_children,
                         case v_scope.total_children when 1 then '1 child'
                           else v_scope.total_children || ' children' end,
                         coalesce(case when v_scope.total_children <= c_most then ', the oldest is '
                                       else ', such as ' end || worker.said_task(s.standing) || ', '
                                  || worker.said_state(s.standing, p_now), ''),
                         case when v_scope.failed_children > 0
                           then format('; %s failed%s', v_scope.failed_children
                                                    || case v_scope.failed_children when 1 then ' has' else ' have' end,
                                       coalesce(', task ' || v_failed || ' first', '')) else '' end)
           end,
           'catchment task why ' || v_open
      from (select worker.standing(v_open) as standing) as s;
end;
$$;
