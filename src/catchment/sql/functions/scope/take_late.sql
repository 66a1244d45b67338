-- take_late: the children that this transaction spawned into open scopes, as changes to those scopes, and forget them. A scope
-- that is gone by now is kept in the list, to be refused.
create or replace function worker.take_late()
  returns worker.scope_change[]
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
as $$
declare
  v_late text := nullif(current_setting('worker.late', true), '');
begin
  if v_late is null then
    return '{}';
  end if;
  perform set_config('worker.late', '', true);
  return array(
    select (l.key::bigint, coalesce(s.depth, 0), 0, 0, 0, l.value::integer, false, false)::worker.scope_change
      from jsonb_each_text(v_late::jsonb) as l
      left join worker.scope as s on s.id = l.key::bigint);
end;
$$;
