-- derive_statistical_history_facet_period: stage some periods of the history by facet, or a share of the facets of one.
--
--   plan    no_jit
create or replace procedure register.derive_statistical_history_facet_period(
  payload     jsonb,
  inout info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  info := jsonb_build_object('rows', register.stage_history_facet(payload));
  perform register.notify_progress();
end;
$$;
