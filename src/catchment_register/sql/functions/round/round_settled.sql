-- round_settled: after hook of a stage. If the stage broke its round, the round is closed and its changes are returned.
--
--   plan    no_jit
create or replace procedure register.round_settled(payload jsonb)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform register.recover_rounds();
  perform register.notify_status();
end;
$$;
