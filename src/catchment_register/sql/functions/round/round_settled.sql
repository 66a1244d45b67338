-- round_settled: a stage has ended, however it did. If it broke its round, the round is given back.
create or replace procedure register.round_settled(
  payload  jsonb
)
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
begin
  perform register.recover_rounds();
  perform register.notify_status();
end;
$$;
