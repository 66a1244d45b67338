-- derive_statistical_history_facet_period: stage some periods of the history by facet, or a share of the facets of one.
create or replace procedure register.derive_statistical_history_facet_period(
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
  info := jsonb_build_object('rows', register.stage_history_facet((payload ->> 'round_id')::bigint,
                                                                  (payload ->> 'batch_seq')::integer,
                                                                  register.named_periods(v_names),
                                                                  coalesce((payload ->> 'share')::integer, 0),
                                                                  coalesce((payload ->> 'shares')::integer, 1)));
  perform register.notify_progress();
end;
$$;
