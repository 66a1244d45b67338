-- capture_named: log the owners of changed identifiers and tags. These have no dates. A person is not a unit.
--
--   session reads register.capture
create or replace function register.capture_named()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- As log_change would say, before the numbers are gathered.
  if current_setting('register.capture', true) = 'off' and register.is_capture_paused() then
    return null;
  end if;
  perform register.log_change(
    p_establishment_ids => (select range_agg(int4range(c.establishment_id, c.establishment_id, '[]'))
                              from changed as c where c.establishment_id is not null),
    p_legal_unit_ids    => (select range_agg(int4range(c.legal_unit_id, c.legal_unit_id, '[]'))
                              from changed as c where c.legal_unit_id is not null),
    p_enterprise_ids    => (select range_agg(int4range(c.enterprise_id, c.enterprise_id, '[]'))
                              from changed as c where c.enterprise_id is not null),
    p_power_group_ids   => (select range_agg(int4range(c.power_group_id, c.power_group_id, '[]'))
                              from changed as c where c.power_group_id is not null));
  return null;
end;
$$;
