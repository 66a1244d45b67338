-- round_settled: a stage has ended, however it did. If it broke its round, the round is given back.
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
