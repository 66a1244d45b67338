-- round_started: before hook of a stage. Committed with the claim, so that users see it before its work is done.
--
--   plan    no_jit
create or replace procedure register.round_started(payload jsonb)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  perform register.notify_status();
end;
$$;
