-- derive_statistical_history: cells for the history, and children that stage its periods; what one child would make of
-- changes is staged and published here. Asked for by hand, it begins with derive_reports: a report alone would leave
-- the others behind.
--
--   children  derive_statistical_history_period; the join finish_statistical_history publishes
--   follows with derive_statistical_unit_facet
--   plan    no_jit
create or replace procedure register.derive_statistical_history(
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
  v_round := register.enter_stage(payload, 'derive_statistical_history');
  perform register.require_mark(v_round.id);
  perform register.collect_cells(v_round.id, 'history', 0, '{[0,16384)}');
  v_payloads := register.plan_periods(v_round.id, 'history');
  perform worker.follow_up('derive_statistical_unit_facet', jsonb_build_object('round_id', v_round.id));
  select s.is_rebuild into strict v_is_rebuild from register.report_scope(v_round.id, 'history') as s;
  if cardinality(v_payloads) > 1 or v_is_rebuild and v_payloads <> '{}' then
    perform worker.spawn_many('derive_statistical_history_period', v_payloads);
    info := jsonb_build_object('children', cardinality(v_payloads));
  else
    if v_payloads <> '{}' then
      perform register.stage_history(v_payloads[1]);
    end if;
    info := register.publish_history(v_round.id, 'history');
  end if;
end;
$$;
