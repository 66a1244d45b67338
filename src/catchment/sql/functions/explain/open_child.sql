-- open_child: an unsettled child of a scope: the oldest one, if the scope has at most p_most children. Else the first
-- one behind settled children, found by halving the range of their ids; null if that finds none.
create or replace function worker.open_child(
  p_scope_id  bigint,
  p_total     integer,
  p_most      integer
)
  returns bigint
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_low  bigint;
  v_high bigint;
  v_id   bigint;
  v_open bigint;
begin
  select c.id into v_open
    from (select t.id from worker.task as t where t.parent_id = p_scope_id order by t.parent_id, t.id limit p_most) as c
   where not exists (select from worker.outcome as o where o.id = c.id)
   limit 1;
  if v_open is not null or p_total <= p_most then
    return v_open;
  end if;
  select min(t.id), max(t.id) into v_low, v_high from worker.task as t where t.parent_id = p_scope_id;
  while v_low <= v_high loop
    select t.id into v_id
      from worker.task as t
     where t.parent_id = p_scope_id and t.id >= v_low + (v_high - v_low) / 2
     order by t.id
     limit 1;
    if exists (select from worker.outcome as o where o.id = v_id) then
      v_low := v_id + 1;
    else
      v_open := v_id;
      v_high := v_low + (v_high - v_low) / 2 - 1;
    end if;
  end loop;
  return v_open;
end;
$$;
