-- capture_owned: log the owners of changed details with validity. Numbers are sorted faster than ranges.
--
--   session reads register.capture
create or replace function register.capture_owned()
  returns trigger
  language plpgsql security definer set search_path = pg_catalog, pg_temp
as $$
begin
  -- As log_change would say, before the numbers are gathered.
  if current_setting('register.capture', true) = 'off' and register.is_capture_paused() then
    return null;
  end if;
  perform register.log_change(
    p_establishment_ids => (select range_agg(int4range(o.establishment_id, o.establishment_id, '[]')
                                             order by o.establishment_id)
                              from (select distinct c.establishment_id from changed as c) as o
                             where o.establishment_id is not null),
    p_legal_unit_ids    => (select range_agg(int4range(o.legal_unit_id, o.legal_unit_id, '[]') order by o.legal_unit_id)
                              from (select distinct c.legal_unit_id from changed as c) as o
                             where o.legal_unit_id is not null),
    p_valid_ranges      => (select range_agg(daterange(v.valid_from, v.valid_until))
                              from (select distinct c.valid_from, c.valid_until from changed as c) as v));
  return null;
end;
$$;
