-- derive_statistical_history_facet: children that stage the periods of the history by facet, from the cells of facets;
-- what one child would make of changes is staged and published here. Asked for by hand, it begins with derive_reports.
--
--   children  derive_statistical_history_facet_period; the join finish_statistical_history_facet publishes and closes
--             the round
--   raises  RG009 the round is not open, or not at this stage
--   plan    no_jit
create or replace procedure register.derive_statistical_history_facet(
  payload     jsonb,
  inout info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_round       register.round;
  v_payloads    jsonb[];
  v_is_rebuild  boolean;
begin
  if register.starts_reports(payload) then
    return;
  end if;
  v_round := register.enter_stage(payload, 'derive_statistical_history_facet');
  v_payloads := register.plan_periods(v_round.id, 'facet');
  select s.is_rebuild into strict v_is_rebuild from register.report_scope(v_round.id, 'facet') as s;
  if cardinality(v_payloads) > 1 or v_is_rebuild and v_payloads <> '{}' then
    perform register.fill_history_facet(v_round.id, v_is_rebuild);
    perform worker.spawn_many('derive_statistical_history_facet_period', v_payloads);
    info := jsonb_build_object('children', cardinality(v_payloads));
  else
    if v_payloads <> '{}' then
      perform register.stage_history_facet(v_payloads[1]);
    end if;
    info := register.publish_history(v_round.id, 'facet');
  end if;
end;
$$;
