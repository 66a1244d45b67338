-- request_round: refresh these tables now, and the dynamic tables they read, as of the newest snapshot.
--
--   returns the round
--   locks   the turn of rounds until the transaction ends, then the rows of open rounds
--   raises  CM030 the dynamic table is being created, replaced or dropped
create or replace function lake.request_round(
  p_tables   bigint[],
  p_trigger  text default 'manual'
)
  returns bigint
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round_id bigint;
begin
  if not exists (select from lake.dt as d where d.id = any (p_tables) and d.state in ('active', 'suspended')) then
    raise exception using
      errcode = 'CM030',
      message = format('none of the tables %s can be refreshed: they are being created or dropped, or do not exist',
                       p_tables),
      hint = 'Look at: catchment table list.';
  end if;
  perform t.name from worker.turn as t where t.name = 'lake.round' for update;
  v_round_id := lake.open_round(p_trigger, p_tables);
  perform lake.advance(v_round_id);
  perform lake.set_tick();
  return v_round_id;
end;
$$;
