-- derive_statistical_history_period: stage some periods of the history.
create or replace procedure register.derive_statistical_history_period(
  payload     jsonb,
  inout info  jsonb
)
  language plpgsql
  security definer
  set search_path = pg_catalog, pg_temp
  set jit = off
as $$
declare
  v_names text[] := array(select jsonb_array_elements_text(payload -> 'periods'));
begin
  info := jsonb_build_object('rows', register.stage_history((payload ->> 'round_id')::bigint, (payload ->> 'batch_seq')::integer,
                                                            register.named_periods(v_names)));
  perform register.notify_progress();
end;
$$;
