-- derive_statistical_history_period: stage some periods of the history.
--
--   plan    no_jit
create or replace procedure register.derive_statistical_history_period(
  payload     jsonb,
  inout info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  info := jsonb_build_object('rows', register.stage_history(payload));
  perform register.notify_progress();
end;
$$;
