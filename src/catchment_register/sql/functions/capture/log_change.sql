-- log_change: log which units a statement changed; null means none of that kind. Paused where the units are logged
-- anyway: assign_power_groups, whose round takes its groups with it, and details of the new units of an import.
--
--   session reads register.capture
create or replace function register.log_change(
  p_establishment_ids            int4multirange default null,
  p_legal_unit_ids               int4multirange default null,
  p_enterprise_ids               int4multirange default null,
  p_power_group_ids              int4multirange default null,
  p_relationship_legal_unit_ids  int4multirange default null,
  p_valid_ranges                 datemultirange default null,
  p_rebuilds_reports             boolean default false
)
  returns void
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  if num_nonnulls(p_establishment_ids, p_legal_unit_ids, p_enterprise_ids, p_power_group_ids,
                  p_relationship_legal_unit_ids) = 0
     or current_setting('register.capture', true) = 'off' and register.is_capture_paused() then
    return;
  end if;
  insert into register.base_change_log (establishment_ids, legal_unit_ids, enterprise_ids, power_group_ids,
                                        relationship_legal_unit_ids, valid_ranges, rebuilds_reports)
  values (p_establishment_ids, p_legal_unit_ids, p_enterprise_ids, p_power_group_ids, p_relationship_legal_unit_ids,
          p_valid_ranges, p_rebuilds_reports);
end;
$$;
