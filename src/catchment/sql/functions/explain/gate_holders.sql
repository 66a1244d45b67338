-- gate_holders: up to five tasks that hold a place at a gate, among p_most tasks before p_from, or else behind it.
create or replace function worker.gate_holders(
  p_gate  text,
  p_from  bigint,
  p_most  integer
)
  returns setof bigint
  language plpgsql stable security definer set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select c.id
      from (select t.id from worker.task as t where t.gate = p_gate and t.id < p_from
             order by t.gate desc, t.id desc limit p_most) as c
     where not exists (select from worker.outcome as o where o.id = c.id)
       and not exists (select from worker.blocked as b where b.id = c.id and b.reason not in ('retry', 'snooze'))
     limit 5;
  if not found then
    return query
      select c.id
        from (select t.id from worker.task as t where t.gate = p_gate and t.id > p_from
               order by t.gate, t.id limit p_most) as c
       where not exists (select from worker.outcome as o where o.id = c.id)
         and not exists (select from worker.blocked as b where b.id = c.id and b.reason not in ('retry', 'snooze'))
       limit 5;
  end if;
end;
$$;
