-- derive_statistical_history: cells for the history, and children that stage its periods. Asked for by hand, it begins
-- with derive_reports: a report alone would leave the others behind.
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
  v_round     register.round;
  v_payloads  jsonb[];
begin
  if register.starts_reports(payload) then
    return;
  end if;
  v_round := register.enter_stage(payload, 'derive_statistical_history');
  perform register.require_mark(v_round.id);
  perform register.collect_cells(v_round.id, 'history', 0, '{[0,16384)}');
  v_payloads := register.plan_periods(v_round.id, 'history');
  perform worker.follow_up('derive_statistical_unit_facet', jsonb_build_object('round_id', v_round.id));
  if v_payloads = '{}' then
    info := register.publish_history(v_round.id, 'history');
  else
    perform worker.spawn_many('derive_statistical_history_period', v_payloads);
    info := jsonb_build_object('children', cardinality(v_payloads));
  end if;
end;
$$;
