-- collect_changes: assign the logged changes to a new round and start it. Rows that commit later have requested another
-- collection. With scope all, everything is derived; if only the reports are behind, only they are updated.
--
--   log rows without a round -> rows of a new open round
--   raises  RG014 another round is open
--   writes  register.collect_request
--   plan    no_jit
create or replace procedure register.collect_changes(
  payload     jsonb,
  inout info  jsonb
)
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
declare
  v_is_all  boolean := coalesce(payload ->> 'scope' = 'all', false) or register.owes_all();
  v_round   register.round;
begin
  perform register.recover_rounds();
  delete from register.collect_request as c where c.xact <> pg_current_xact_id();
  if v_is_all or exists (select from register.base_change_log as b where b.round_id is null) then
    v_round := register.take_changes(v_is_all);
    perform worker.follow_up('derive_statistical_unit', jsonb_build_object('round_id', v_round.id));
  elsif register.reports_are_behind() then
    v_round := register.open_round('roll');
    update register.round as r set rebuild = register.reports_need_rebuild() where r.id = v_round.id;
    perform worker.follow_up('derive_reports', jsonb_build_object('round_id', v_round.id));
  end if;
  info := jsonb_build_object(
    'round_id', v_round.id, 'kind', v_round.kind,
    'affected_establishment_count', register.count_ids(v_round.establishment_ids),
    'affected_legal_unit_count', register.count_ids(v_round.legal_unit_ids),
    'affected_enterprise_count', register.count_ids(v_round.enterprise_ids),
    'affected_power_group_count', register.count_ids(v_round.power_group_ids));
end;
$$;
