-- send_to_gates: of these blocked tasks, those under a limit wait at their gates from now on.
--
--   returns the others
--   locks   the blocked rows
create or replace function worker.send_to_gates(p_ids bigint[])
  returns bigint[]
  language sql security definer set search_path = pg_catalog, pg_temp
as $$
  with gated as (
    update worker.blocked as b
       set reason  = 'limit',
           lane    = t.gate,
           wait_id = null,
           due_at  = null
      from worker.task as t
     where b.id = any (p_ids)
       and t.id = b.id
       and t.gate is not null
    returning b.id, t.gate, t.command
  ),
  announced as (
    insert into worker.gate_arrival (gate, command) select g.gate, g.command from gated as g
  )
  select array(select i from unnest(p_ids) as i where not exists (select from gated as g where g.id = i));
$$;
