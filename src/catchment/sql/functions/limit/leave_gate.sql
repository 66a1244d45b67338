-- leave_gate: return the places that tasks have at a gate, and their unused tokens. If another transaction holds the
-- gate, this is recorded for the next let_in, so that no transaction waits for a gate: the order in which a transaction
-- leaves several does not matter.
--
--   locks   the gate row if it is free
--   returns whether the gate is ours now: the caller opens it
create or replace function worker.leave_gate(
  p_gate      text,
  p_command   text,
  p_freed     integer,
  p_unused    integer,
  p_queue_id  integer
)
  returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  update worker.gate as g
     set held   = greatest(g.held - p_freed, 0),
         tokens = g.tokens + p_unused
   where g.ctid = any (array(select x.ctid from worker.gate as x where x.gate = p_gate for update skip locked));
  if found then
    return true;
  end if;
  insert into worker.gate_arrival (gate, command, freed, unused) values (p_gate, p_command, p_freed, p_unused);
  perform worker.wake(array[p_queue_id], t.tier) from generate_series(0, 2) as t (tier);
  return false;
end;
$$;
