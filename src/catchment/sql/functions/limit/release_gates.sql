-- release_gates: remove settled tasks from their gates, and admit the next ones.
--
--   locks   gate rows that are free; then see open_gates
create or replace function worker.release_gates(p_settled worker.settled[])
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_gates text[] := '{}';
  v_gone  record;
begin
  for v_gone in
    select t.gate, min(i.command) as command, min(i.queue_id) as queue_id, count(*)::integer as n
      from unnest(p_settled) as i
     cross join lateral (select t.gate from worker.task as t where t.id = i.id limit 1) as t
     where t.gate is not null
       and i.was_active
     group by t.gate
     order by t.gate
  loop
    if worker.leave_gate(v_gone.gate, v_gone.command, v_gone.n, 0, v_gone.queue_id) then
      v_gates := v_gates || v_gone.gate;
    end if;
  end loop;
  if v_gates <> '{}' then
    perform worker.open_gates(v_gates);
  end if;
end;
$$;
