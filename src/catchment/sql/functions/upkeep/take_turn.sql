-- take_turn: take the turn of this name until the transaction ends. False, without waiting, if another session has it.
--
--   locks   the row of the turn if it is free
create or replace function worker.take_turn(p_name text)
  returns boolean
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform t.name from worker.turn as t where t.name = p_name for update skip locked;
  return found;
end;
$$;
