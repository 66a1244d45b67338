-- children_error: the error of a task that failed by its children: the number of failed children, and the one that is
-- blamed.
create or replace function worker.children_error(p_scope worker.scope)
  returns jsonb
  language plpgsql volatile security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_child jsonb := worker.blamed_child(p_scope.id);
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'kind', 'children',
    'message', case
                 when p_scope.failed_children = 0
                   then format('%s of %s children cancelled', p_scope.cancelled_children, p_scope.total_children)
                 when p_scope.cancelled_children = 0
                   then format('%s of %s children failed', p_scope.failed_children, p_scope.total_children)
                 else format('%s of %s children failed, %s cancelled', p_scope.failed_children, p_scope.total_children,
                             p_scope.cancelled_children)
               end || coalesce(format(': %s: %s', v_child ->> 'command', v_child ->> 'message'), ''),
    'child', v_child));
end;
$$;
